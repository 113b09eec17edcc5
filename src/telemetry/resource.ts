import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";

/** What tells an instance from others, under any service name. */
export interface ResourceIdentity {
  readonly version: string;
  /** The id of the instance, for all signals of all its processes. */
  readonly instance: string;
}

/** Describes the exporting instance. OTEL_RESOURCE_ATTRIBUTES can add to it. */
export function resourceOf(serviceName: string, { version, instance }: ResourceIdentity): Resource {
  return defaultResource()
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(
      resourceFromAttributes({
        "service.name": serviceName,
        "service.version": version,
        "service.instance.id": instance,
      }),
    );
}
