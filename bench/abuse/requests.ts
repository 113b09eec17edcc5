import type { DescMessage, DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";

/** Where a server is asked, and as whom. */
export interface AbuseTarget {
  /** Of REST. */
  readonly url: string;
  /** Of gRPC, host and port. */
  readonly grpc: string;
  readonly tenant: string;
}

/** One tenant's schema, with what is asked of it. */
export const sceneSchema = `entity user {}
entity folder {
  relation viewer @user
}
entity document {
  relation folder @folder
  relation owner @user
  attribute title string
  permission view = owner or folder.viewer
}`;

export const sceneTuples = [
  tupleOf("document:one#folder@folder:one"),
  tupleOf("folder:one#viewer@user:ann"),
];

/** Allowed by the tuples above. */
export const sceneCheck = {
  metadata: {},
  entity: { type: "document", id: "one" },
  permission: "view",
  subject: { type: "user", id: "ann" },
};

/** The same as a request of gRPC has it. */
export function grpcCheck(tenantId: string) {
  return { ...sceneCheck, tenantId };
}

/** A tuple from its text. */
export function tupleOf(text: string) {
  const parts = /^(\w+):([^#]+)#(\w+)@(\w+):(.+)$/.exec(text) ?? [];
  const [, type = "", id = "", relation = "", subjectType = "", subjectId = ""] = parts;
  return {
    entity: { type, id },
    relation,
    subject: { type: subjectType, id: subjectId },
  };
}

/** The bytes of a POST of JSON, on a connection that stays open. */
export function restRequest(target: AbuseTarget, path: string, body: string): Buffer {
  return Buffer.concat([restHead(target, path, Buffer.byteLength(body)), Buffer.from(body)]);
}

/** The same without the body, of which so many bytes are announced. */
export function restHead(target: AbuseTarget, path: string, length: number): Buffer {
  const { host } = new URL(target.url);
  const lines = [
    `POST /v1/tenants/${target.tenant}/${path} HTTP/1.1`,
    `host: ${host}`,
    "content-type: application/json",
    `content-length: ${length}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
}

/** A message as a body of gRPC has it. */
export function grpcMessage<I extends DescMessage>(
  method: DescMethod & { readonly input: I },
  request: MessageInitShape<I>,
): Buffer {
  const bytes = toBinary(method.input, create(method.input, request));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

export function grpcPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}
