import { randomUUID } from "node:crypto";

import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";

/** One id for all signals of the process, under any service name. */
const instanceId = randomUUID();

/** Describes the exporting process. OTEL_RESOURCE_ATTRIBUTES can add to it. */
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
