import { randomUUID } from "node:crypto";

import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";

/** One for all signals of the process, whatever names they have. */
const instanceId = randomUUID();

/** Who it is that sends; OTEL_RESOURCE_ATTRIBUTES may say more. */
export function resourceOf(serviceName: string, version: string): Resource {
  return defaultResource()
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(
      resourceFromAttributes({
        "service.name": serviceName,
        "service.version": version,
        "service.instance.id": instanceId,
      }),
    );
}
