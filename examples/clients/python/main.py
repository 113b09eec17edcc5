import sys
import time

import grpc
from base.v1 import data_pb2, data_pb2_grpc, permission_pb2, permission_pb2_grpc
from base.v1 import schema_pb2, schema_pb2_grpc, tenancy_pb2, tenancy_pb2_grpc, tuple_pb2

address, token, certificate = sys.argv[1:]

with open(certificate, "rb") as file:
    secure = grpc.ssl_channel_credentials(file.read())
bearer = [("authorization", f"Bearer {token}")]
tenant = f"python-{time.time_ns()}"

with grpc.secure_channel(address, secure) as channel:
    tenancy_pb2_grpc.TenancyStub(channel).Create(
        tenancy_pb2.TenantCreateRequest(id=tenant, name="an example"), metadata=bearer
    )
    schema = "entity user {} entity document { relation viewer @user permission view = viewer }"
    schema_pb2_grpc.SchemaStub(channel).Write(
        schema_pb2.SchemaWriteRequest(tenant_id=tenant, schema=schema), metadata=bearer
    )
    document = tuple_pb2.Entity(type="document", id="plan")
    ada = tuple_pb2.Subject(type="user", id="ada")
    written = data_pb2_grpc.DataStub(channel).Write(
        data_pb2.DataWriteRequest(
            tenant_id=tenant,
            metadata=data_pb2.DataWriteRequestMetadata(),
            tuples=[tuple_pb2.Tuple(entity=document, relation="viewer", subject=ada)],
        ),
        metadata=bearer,
    )
    checked = permission_pb2_grpc.PermissionStub(channel).Check(
        permission_pb2.PermissionCheckRequest(
            tenant_id=tenant,
            metadata=permission_pb2.PermissionCheckRequestMetadata(snap_token=written.snap_token),
            entity=document,
            permission="view",
            subject=ada,
        ),
        metadata=bearer,
    )
    print(permission_pb2.CheckResult.Name(checked.can))
