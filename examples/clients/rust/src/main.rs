use std::time::{SystemTime, UNIX_EPOCH};

use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig};
use tonic::{Request, Status};

mod proto {
    include!(concat!(env!("OUT_DIR"), "/proto.rs"));
}
use proto::base::v1::{
    data_client::DataClient, permission_client::PermissionClient, schema_client::SchemaClient,
    tenancy_client::TenancyClient, CheckResult, DataWriteRequest, DataWriteRequestMetadata, Entity,
    PermissionCheckRequest, PermissionCheckRequestMetadata, SchemaWriteRequest, Subject,
    TenantCreateRequest, Tuple,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, token, certificate] = &arguments[..] else {
        return Err("expected ADDRESS TOKEN CERTIFICATE".into());
    };
    let authority = Certificate::from_pem(std::fs::read(certificate)?);
    let channel = Channel::from_shared(format!("https://{address}"))?
        .tls_config(ClientTlsConfig::new().ca_certificate(authority))?
        .connect()
        .await?;
    let bearer: MetadataValue<Ascii> = format!("Bearer {token}").parse()?;
    let authorize = move |mut request: Request<()>| -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", bearer.clone());
        Ok(request)
    };
    let tenant_id = format!("rust-{}", SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos());

    TenancyClient::with_interceptor(channel.clone(), authorize.clone())
        .create(TenantCreateRequest { id: tenant_id.clone(), name: "an example".into() })
        .await?;
    let schema = "entity user {} entity document { relation viewer @user permission view = viewer }";
    SchemaClient::with_interceptor(channel.clone(), authorize.clone())
        .write(SchemaWriteRequest { tenant_id: tenant_id.clone(), schema: schema.into() })
        .await?;
    let document = Entity { r#type: "document".into(), id: "plan".into() };
    let ada = Subject { r#type: "user".into(), id: "ada".into(), relation: String::new() };
    let tuple = Tuple {
        entity: Some(document.clone()),
        relation: "viewer".into(),
        subject: Some(ada.clone()),
    };
    let written = DataClient::with_interceptor(channel.clone(), authorize.clone())
        .write(DataWriteRequest {
            tenant_id: tenant_id.clone(),
            metadata: Some(DataWriteRequestMetadata::default()),
            tuples: vec![tuple],
            ..Default::default()
        })
        .await?
        .into_inner();
    let checked = PermissionClient::with_interceptor(channel, authorize)
        .check(PermissionCheckRequest {
            tenant_id,
            metadata: Some(PermissionCheckRequestMetadata {
                snap_token: written.snap_token,
                ..Default::default()
            }),
            entity: Some(document),
            permission: "view".into(),
            subject: Some(ada),
            ..Default::default()
        })
        .await?
        .into_inner();
    println!("{}", CheckResult::try_from(checked.can)?.as_str_name());
    Ok(())
}
