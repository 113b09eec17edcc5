import { type DescFile, type DescMessage, type DescService, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";

import { file_base_v1_error } from "../gen/base/v1/error_pb.ts";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { ServerReflection } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { bidiStreaming, type ServedMethod } from "./method.ts";

/** A question of the reflection protocol, of either version. */
export type ReflectionQuestion =
  | { readonly case: "fileByFilename"; readonly value: string }
  | { readonly case: "fileContainingSymbol"; readonly value: string }
  | {
      readonly case: "fileContainingExtension";
      readonly value: { readonly containingType: string; readonly extensionNumber: number };
    }
  | { readonly case: "allExtensionNumbersOfType"; readonly value: string }
  | { readonly case: "listServices"; readonly value: string }
  | { readonly case: undefined; readonly value?: undefined };

export type ReflectionAnswer =
  | {
      readonly case: "fileDescriptorResponse";
      readonly value: { readonly fileDescriptorProto: Uint8Array[] };
    }
  | {
      readonly case: "allExtensionNumbersResponse";
      readonly value: { readonly baseTypeName: string; readonly extensionNumber: number[] };
    }
  | {
      readonly case: "listServicesResponse";
      readonly value: { readonly service: { readonly name: string }[] };
    }
  | {
      readonly case: "errorResponse";
      readonly value: { readonly errorCode: number; readonly errorMessage: string };
    };

/**
 * Answers from the descriptors of the services with their dependencies, and from additional files.
 */
function reflect(
  services: readonly DescService[],
  others: readonly DescFile[],
): (question: ReflectionQuestion) => ReflectionAnswer {
  const files = new Map<string, DescFile>();
  for (const file of [...services.map((service) => service.file), ...others]) {
    collectFiles(file, files);
  }
  const symbols = new Map<string, DescFile>();
  for (const file of files.values()) {
    for (const symbol of symbolsOf(file)) symbols.set(symbol, file);
  }
  return (question) => {
    switch (question.case) {
      case "listServices": {
        const service = services.map(({ typeName }) => ({ name: typeName }));
        return { case: "listServicesResponse", value: { service } };
      }
      case "fileByFilename":
        return fileAnswer(files.get(question.value), `no file \`${question.value}\``);
      case "fileContainingSymbol":
        return fileAnswer(symbols.get(question.value), `no symbol \`${question.value}\``);
      case "fileContainingExtension":
        return failed(status.NOT_FOUND, "there are no extensions");
      case "allExtensionNumbersOfType":
        if (!symbols.has(question.value)) {
          return failed(status.NOT_FOUND, `no symbol \`${question.value}\``);
        }
        return {
          case: "allExtensionNumbersResponse",
          value: { baseTypeName: question.value, extensionNumber: [] },
        };
      case undefined:
        return failed(status.INVALID_ARGUMENT, "message_request: is missing");
    }
  };
}

function failed(errorCode: number, errorMessage: string): ReflectionAnswer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

/** The file with all its imports, which come first, so that a client needs one request only. */
function fileAnswer(file: DescFile | undefined, problem: string): ReflectionAnswer {
  if (file === undefined) return failed(status.NOT_FOUND, problem);
  const needed = new Map<string, DescFile>();
  collectFiles(file, needed);
  return {
    case: "fileDescriptorResponse",
    value: { fileDescriptorProto: [...needed.values()].map(bytesOf) },
  };
}

/** Descriptors take milliseconds to encode, and a stream may ask for the same ones many times. */
const encoded = new WeakMap<DescFile, Uint8Array>();

function bytesOf(file: DescFile): Uint8Array {
  const known = encoded.get(file);
  if (known !== undefined) return known;
  const bytes = toBinary(FileDescriptorProtoSchema, file.proto);
  encoded.set(file, bytes);
  return bytes;
}

function collectFiles(file: DescFile, found: Map<string, DescFile>): void {
  if (found.has(file.proto.name)) return;
  for (const dependency of file.dependencies) collectFiles(dependency, found);
  found.set(file.proto.name, file);
}

/** Every full name that the file declares. */
function* symbolsOf(file: DescFile): Generator<string> {
  for (const type of nestedTypes(file)) {
    yield type.typeName;
    switch (type.kind) {
      case "message":
        yield* membersOf(type);
        break;
      case "enum": {
        // Enum values are named as siblings of their enum.
        const scope = type.typeName.slice(0, -type.name.length);
        for (const { name } of type.values) yield `${scope}${name}`;
        break;
      }
      case "service":
        for (const { name } of type.methods) yield `${type.typeName}.${name}`;
        break;
      case "extension":
        break;
    }
  }
}

function* membersOf({ typeName, fields, oneofs }: DescMessage): Generator<string> {
  for (const { name } of [...fields, ...oneofs]) yield `${typeName}.${name}`;
}

export const reflectionServices: readonly DescService[] = [ServerReflection, ServerReflectionAlpha];

/** Of errors: no message of a service needs these files. */
const errorFiles = [file_base_v1_error, file_google_rpc_error_details];

/** Describes `services` and reflection itself. The two versions differ in their names only. */
export function reflectionMethods(services: readonly DescService[]): readonly ServedMethod[] {
  const answer = reflect([...services, ...reflectionServices], errorFiles);
  return [
    bidiStreaming(ServerReflection.method.serverReflectionInfo, (request) => ({
      validHost: request.host,
      originalRequest: request,
      messageResponse: answer(request.messageRequest),
    })),
    bidiStreaming(ServerReflectionAlpha.method.serverReflectionInfo, (request) => ({
      validHost: request.host,
      originalRequest: request,
      messageResponse: answer(request.messageRequest),
    })),
  ];
}
