import { AggregationTemporality, InstrumentType } from "@opentelemetry/sdk-metrics";

/**
 * Over which time a reader sums up a kind of instrument. A gauge has only what its last reading found: summed
 * up, the value of a label that is gone would stay for ever.
 */
export function temporalityOf(type: InstrumentType): AggregationTemporality {
  return type === InstrumentType.OBSERVABLE_GAUGE
    ? AggregationTemporality.DELTA
    : AggregationTemporality.CUMULATIVE;
}
