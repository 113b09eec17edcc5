"""Asks a server by a client that was generated from a description, and prints the result of the check.

Arguments: the folder of the package, its name, which is the form of JSON, the base URL of REST, a token, and a file with
the certificate of the server.
"""

import importlib
import ssl
import sys

folder, form, url, token, certificate = sys.argv[1:]
sys.path.insert(0, folder)
package = importlib.import_module(form)
models = importlib.import_module(f"{form}.models")

BODIES = {
    "documented": {
        "tenants.create_tenant": models.__dict__.get("CreateTenantBody"),
        "schemas.write_schema": models.__dict__.get("WriteSchemaBody"),
        "data.write_data": models.__dict__.get("WriteDataBody"),
        "permissions.check": models.__dict__.get("CheckBody"),
        "permissions.expand": models.__dict__.get("ExpandBody"),
        "schemas.read_schema": models.__dict__.get("ReadSchemaBody"),
    },
    "protobuf": {
        "tenants.create_tenant": models.__dict__.get("BaseV1TenantCreateRequest"),
        "schemas.write_schema": models.__dict__.get("BaseV1SchemaWriteRequest"),
        "data.write_data": models.__dict__.get("BaseV1DataWriteRequest"),
        "permissions.check": models.__dict__.get("BaseV1PermissionCheckRequest"),
        "permissions.expand": models.__dict__.get("BaseV1PermissionExpandRequest"),
        "schemas.read_schema": models.__dict__.get("BaseV1SchemaReadRequest"),
    },
}[form]

client = package.AuthenticatedClient(
    base_url=url, token=token, verify_ssl=ssl.create_default_context(cafile=certificate)
)
TENANT = f"generated-{form}"


def call(name, body, *path):
    module = importlib.import_module(f"{form}.api.{name}")
    reply = module.sync_detailed(
        *path, client=client, body=BODIES[name].from_dict(body), pemba_json=models.JsonForm(form)
    )
    if reply.status_code != 200:
        raise AssertionError(f"{name}: {reply.status_code} {reply.content!r}")
    return reply.parsed


call("tenants.create_tenant", {"id": TENANT, "name": "from a description"})
schema = "entity user {} entity doc { relation viewer @user attribute open boolean permission view = viewer or open }"
call("schemas.write_schema", {"schema": schema}, TENANT)
entity = {"type": "doc", "id": "1"}
subject = {"type": "user", "id": "ada", "relation": ""}
value = {"@type": "type.googleapis.com/base.v1.BooleanValue", "data": False}
call(
    "data.write_data",
    {
        "metadata": {},
        "tuples": [{"entity": entity, "relation": "viewer", "subject": subject}],
        "attributes": [{"entity": entity, "attribute": "open", "value": value}],
    },
    TENANT,
)
question = {"metadata": {}, "entity": entity, "permission": "view"}
tree = call("permissions.expand", question, TENANT).tree
read = call("schemas.read_schema", {"metadata": {}}, TENANT).schema
if form == "documented":
    assert tree.target.relation == "view", tree
    assert read.entity_definitions["doc"].actions["view"] == "viewer or open", read
else:
    assert tree.permission == "view", tree
    assert "view" in read.entity_definitions["doc"].permissions, read
print(call("permissions.check", {**question, "subject": subject}, TENANT).can.value)
