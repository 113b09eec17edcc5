import type { DescService } from "@bufbuild/protobuf";

import { file_base_v1_error } from "../gen/base/v1/error_pb.ts";
import { ServerReflection } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { bidiStreaming, type ServedMethod } from "./method.ts";
import { reflect } from "./reflection.ts";

export const reflectionServices: readonly DescService[] = [ServerReflection, ServerReflectionAlpha];

/** Describes `services` and reflection itself. The two versions differ in their names only. */
export function reflectionMethods(services: readonly DescService[]): readonly ServedMethod[] {
  const answer = reflect([...services, ...reflectionServices], [file_base_v1_error]);
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
