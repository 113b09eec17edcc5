import type { Service } from "../service/service.ts";
import type { MessageMethod } from "./method.ts";
import { bundleMethods } from "./methods/bundle.ts";
import { dataMethods } from "./methods/data.ts";
import { explainMethods } from "./methods/explain.ts";
import { lookupMethods } from "./methods/lookup.ts";
import { permissionMethods } from "./methods/permission.ts";
import { schemaMethods } from "./methods/schema.ts";
import { tenancyMethods } from "./methods/tenancy.ts";
import { watchMethods } from "./methods/watch.ts";

/** All methods of the API, on a service. */
export function apiMethods(service: Service): readonly MessageMethod[] {
  return [
    ...permissionMethods(service),
    ...explainMethods(service),
    ...lookupMethods(service),
    ...schemaMethods(service),
    ...dataMethods(service),
    ...bundleMethods(service),
    ...tenancyMethods(service),
    ...watchMethods(service),
  ];
}
