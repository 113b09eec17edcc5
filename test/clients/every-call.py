"""Makes every call of the client `permify` from PyPI, and prints a line for each: its name and `ok`, or why not.

Arguments: the base URL of REST, a token, and a file with the certificate of the server.
"""

import sys
import threading

import permify
from permify import models as m

url, token, certificate = sys.argv[1:]
configuration = permify.Configuration(host=url, ssl_ca_cert=certificate)
client = permify.ApiClient(configuration, "Authorization", f"Bearer {token}")
tenants = permify.TenancyApi(client)
schemas = permify.SchemaApi(client)
data = permify.DataApi(client)
bundles = permify.BundleApi(client)
permissions = permify.PermissionApi(client)
watch = permify.WatchApi(client)

TENANT = "python"
SCHEMA = """
entity user {}
entity group { relation member @user }
entity doc {
  relation owner @user
  relation viewer @user @group#member
  attribute open boolean
  permission view = viewer or owner
  permission read = view and is_open(open)
}
rule is_open(open boolean) { open && context.data.hour >= 9 }
"""
BOOLEAN = "type.googleapis.com/base.v1.BooleanValue"


def doc(id):
    return m.Entity(type="doc", id=id)


def user(id):
    return m.Subject(type="user", id=id)


def viewer(of, who):
    return m.Tuple(entity=doc(of), relation="viewer", subject=user(who))


def boolean(value):
    result = m.Any(type=BOOLEAN)
    result.additional_properties["data"] = value
    return result


calls = {}


def call(run):
    calls[run.__name__] = run
    return run


def expect(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r} is not {wanted!r}")


@call
def tenants_create():
    made = tenants.tenants_create(m.TenantCreateRequest(id=TENANT, name="from Python"))
    expect((made.tenant.id, made.tenant.name), (TENANT, "from Python"))
    expect(made.tenant.created_at.tzinfo is not None, True)


@call
def tenants_list():
    listed = tenants.tenants_list(m.TenantListRequest(page_size=100))
    expect(TENANT in [tenant.id for tenant in listed.tenants], True)
    expect(listed.continuous_token, "")


@call
def schemas_write():
    written = schemas.schemas_write(TENANT, m.SchemaWriteBody(var_schema=SCHEMA))
    expect(len(written.schema_version), 20)


@call
def schemas_partial_write():
    partial = m.Partials(write=["permission edit = owner"], update=[], delete=[])
    body = m.PartialWriteBody(metadata=m.SchemaPartialWriteRequestMetadata(), partials={"doc": partial})
    expect(len(schemas.schemas_partial_write(TENANT, body).schema_version), 20)


@call
def schemas_read():
    body = m.SchemaReadBody(metadata=m.SchemaReadRequestMetadata())
    schema = schemas.schemas_read(TENANT, body).var_schema
    expect(sorted(schema.entity_definitions), ["doc", "group", "user"])
    definition = schema.entity_definitions["doc"]
    expect(sorted(definition.permissions), ["edit", "read", "view"])
    references = definition.relations["viewer"].relation_references
    expect([(one.type, one.relation) for one in references], [("user", ""), ("group", "member")])
    expect(definition.attributes["open"].type, m.AttributeType.ATTRIBUTE_TYPE_BOOLEAN)
    view = definition.permissions["view"].child.rewrite
    expect(view.rewrite_operation, m.RewriteOperation.OPERATION_UNION)
    expect(view.children[0].leaf.computed_user_set.relation, "viewer")
    expect(schema.rule_definitions["is_open"].expression.expr.call_expr.function, "_&&_")


@call
def schemas_list():
    listed = schemas.schemas_list(TENANT, m.SchemaListBody(page_size=10))
    expect(len(listed.schemas), 2)
    expect(listed.head, listed.schemas[0].version)


@call
def data_write():
    body = m.DataWriteBody(
        metadata=m.DataWriteRequestMetadata(),
        tuples=[viewer("1", "ada")],
        attributes=[m.Attribute(entity=doc("1"), attribute="open", value=boolean(True))],
    )
    expect(data.data_write(TENANT, body).snap_token != "", True)


@call
def relationships_write():
    body = m.WriteRelationshipsBody(metadata=m.RelationshipWriteRequestMetadata(), tuples=[viewer("2", "bob")])
    expect(data.relationships_write(TENANT, body).snap_token != "", True)


@call
def data_relationships_read():
    body = m.ReadRelationshipsBody(
        metadata=m.RelationshipReadRequestMetadata(),
        filter=m.TupleFilter(entity=m.EntityFilter(type="doc", ids=["1"]), relation="viewer"),
    )
    expect(data.data_relationships_read(TENANT, body).tuples[0].subject.id, "ada")


@call
def data_attributes_read():
    body = m.ReadAttributesBody(
        metadata=m.AttributeReadRequestMetadata(),
        filter=m.AttributeFilter(entity=m.EntityFilter(type="doc", ids=["1"]), attributes=["open"]),
    )
    (attribute,) = data.data_attributes_read(TENANT, body).attributes
    expect((attribute.value.type, attribute.value.additional_properties), (BOOLEAN, {"data": True}))


def question(**more):
    return dict(metadata=m.PermissionCheckRequestMetadata(depth=20), entity=doc("1"), subject=user("ada"), **more)


@call
def permissions_check():
    checked = permissions.permissions_check(TENANT, m.CheckBody(permission="view", **question()))
    expect(checked.can, m.CheckResult.CHECK_RESULT_ALLOWED)
    expect(checked.metadata.check_count >= 1, True)
    early = m.CheckBody(permission="read", context=m.Context(data={"hour": 8}), **question())
    expect(permissions.permissions_check(TENANT, early).can, m.CheckResult.CHECK_RESULT_DENIED)


@call
def permissions_bulk_check():
    items = [
        m.PermissionBulkCheckRequestItem(entity=doc(id), permission="view", subject=user("ada")) for id in ("1", "2")
    ]
    body = m.BulkCheckBody(metadata=m.PermissionCheckRequestMetadata(depth=20), items=items)
    results = permissions.permissions_bulk_check(TENANT, body).results
    expect([one.can for one in results], [m.CheckResult.CHECK_RESULT_ALLOWED, m.CheckResult.CHECK_RESULT_DENIED])


@call
def permissions_expand():
    body = m.PermissionExpandBody(metadata=m.PermissionExpandRequestMetadata(), entity=doc("1"), permission="view")
    tree = permissions.permissions_expand(TENANT, body).tree
    expect((tree.entity.id, tree.permission), ("1", "view"))
    expect(tree.expand.operation, m.ExpandTreeNodeOperation.OPERATION_UNION)
    expect(tree.expand.children[0].leaf.subjects.subjects[0].id, "ada")


@call
def permissions_lookup_entity():
    body = m.LookupEntityBody(
        metadata=m.PermissionLookupEntityRequestMetadata(depth=20),
        entity_type="doc",
        permission="view",
        subject=user("ada"),
        scope={"doc": m.StringArrayValue(data=["1", "2"])},
    )
    expect(permissions.permissions_lookup_entity(TENANT, body).entity_ids, ["1"])


@call
def permissions_lookup_entity_stream():
    body = m.LookupEntityStreamBody(
        metadata=m.PermissionLookupEntityRequestMetadata(depth=20),
        entity_type="doc",
        permission="view",
        subject=user("ada"),
    )
    expect(permissions.permissions_lookup_entity_stream(TENANT, body).result.entity_id, "1")


@call
def permissions_lookup_subject():
    body = m.LookupSubjectBody(
        metadata=m.PermissionLookupSubjectRequestMetadata(depth=20),
        entity=doc("1"),
        permission="view",
        subject_reference=m.RelationReference(type="user"),
    )
    expect(permissions.permissions_lookup_subject(TENANT, body).subject_ids, ["ada"])


@call
def permissions_subject_permission():
    metadata = m.PermissionSubjectPermissionRequestMetadata(depth=20, only_permission=True)
    body = m.SubjectPermissionBody(
        metadata=metadata, entity=doc("1"), subject=user("ada"), context=m.Context(data={"hour": 10})
    )
    results = permissions.permissions_subject_permission(TENANT, body).results
    allowed, denied = m.CheckResult.CHECK_RESULT_ALLOWED, m.CheckResult.CHECK_RESULT_DENIED
    expect(results, {"edit": denied, "read": allowed, "view": allowed})


@call
def bundle_write():
    operation = m.V1Operation(
        relationships_write=["doc:{{.id}}#owner@user:{{.who}}"],
        relationships_delete=[],
        attributes_write=["doc:{{.id}}$open|boolean:false"],
        attributes_delete=[],
    )
    bundle = m.DataBundle(name="made", arguments=["id", "who"], operations=[operation])
    expect(bundles.bundle_write(TENANT, m.BundleWriteBody(bundles=[bundle])).names, ["made"])


@call
def bundle_read():
    bundle = bundles.bundle_read(TENANT, m.BundleReadBody(name="made")).bundle
    expect((bundle.arguments, bundle.operations[0].attributes_delete), (["id", "who"], []))


@call
def bundle_run():
    body = m.RunBundleBody(name="made", arguments={"id": "3", "who": "eve"})
    expect(data.bundle_run(TENANT, body).snap_token != "", True)


@call
def watch_watch():
    token = data.bundle_run(TENANT, m.RunBundleBody(name="made", arguments={"id": "4", "who": "eve"})).snap_token
    stream = watch.watch_watch_without_preload_content(TENANT, m.WatchBody(snap_token=token))
    written = m.WriteRelationshipsBody(metadata=m.RelationshipWriteRequestMetadata(), tuples=[viewer("5", "ada")])
    data.relationships_write(TENANT, written)
    line = stream.readline().decode()
    stream.close()
    changes = m.StreamResultOfWatchResponse.from_json(line).result.changes
    (change,) = changes.data_changes
    expect((change.operation, change.tuple.entity.id), (m.DataChangeOperation.OPERATION_CREATE, "5"))


@call
def bundle_delete():
    expect(bundles.bundle_delete(TENANT, m.BundleDeleteBody(name="made")).name, "made")


@call
def data_delete():
    body = m.DataDeleteBody(
        tuple_filter=m.TupleFilter(entity=m.EntityFilter(type="doc", ids=["1"])),
        attribute_filter=m.AttributeFilter(),
    )
    expect(data.data_delete(TENANT, body).snap_token != "", True)


@call
def relationships_delete():
    body = m.DeleteRelationshipsBody(filter=m.TupleFilter(entity=m.EntityFilter(type="doc", ids=["2"])))
    expect(data.relationships_delete(TENANT, body).snap_token != "", True)


@call
def an_error():
    try:
        permissions.permissions_check(TENANT, m.CheckBody(permission="fly", **question()))
    except permify.ApiException as error:
        status = m.Status.from_json(error.body)
        expect((error.status, status.code, status.details), (400, 3, []))
        expect(status.message.startswith("ERROR_CODE_PERMISSION_NOT_FOUND: "), True)
    else:
        raise AssertionError("no error")


@call
def tenants_delete():
    expect(tenants.tenants_delete(TENANT).tenant_id, TENANT)


for name, run in calls.items():
    try:
        run()
        print(f"{name} ok")
    except Exception as error:
        print(f"{name} {type(error).__name__}: {error}".replace("\n", " "))
