import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.grpc.Grpc;
import io.grpc.stub.MetadataUtils;
import java.io.File;
import pemba.base.v1.*;

public class Main {
  public static void main(String[] arguments) throws Exception {
    String address = arguments[0], token = arguments[1], certificate = arguments[2];
    var secure = TlsChannelCredentials.newBuilder().trustManager(new File(certificate)).build();
    ManagedChannel channel = Grpc.newChannelBuilder(address, secure).build();
    var headers = new Metadata();
    headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
    var bearer = MetadataUtils.newAttachHeadersInterceptor(headers);
    String tenant = "java-" + System.nanoTime();

    TenancyGrpc.newBlockingStub(channel)
        .withInterceptors(bearer)
        .create(TenantCreateRequest.newBuilder().setId(tenant).setName("an example").build());
    SchemaGrpc.newBlockingStub(channel)
        .withInterceptors(bearer)
        .write(
            SchemaWriteRequest.newBuilder()
                .setTenantId(tenant)
                .setSchema(
                    "entity user {} entity document { relation viewer @user permission view = viewer }")
                .build());
    var document = Entity.newBuilder().setType("document").setId("plan").build();
    var ada = Subject.newBuilder().setType("user").setId("ada").build();
    var written =
        DataGrpc.newBlockingStub(channel)
            .withInterceptors(bearer)
            .write(
                DataWriteRequest.newBuilder()
                    .setTenantId(tenant)
                    .setMetadata(DataWriteRequestMetadata.getDefaultInstance())
                    .addTuples(
                        Tuple.newBuilder().setEntity(document).setRelation("viewer").setSubject(ada))
                    .build());
    var metadata =
        PermissionCheckRequestMetadata.newBuilder().setSnapToken(written.getSnapToken()).build();
    var checked =
        PermissionGrpc.newBlockingStub(channel)
            .withInterceptors(bearer)
            .check(
                PermissionCheckRequest.newBuilder()
                    .setTenantId(tenant)
                    .setMetadata(metadata)
                    .setEntity(document)
                    .setPermission("view")
                    .setSubject(ada)
                    .build());
    System.out.println(checked.getCan());
    channel.shutdownNow();
  }
}
