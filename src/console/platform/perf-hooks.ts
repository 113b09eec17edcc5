let rounds = 0;

/** Stands in for Node's: a browser accepts no connections, so each look is of another round. */
export const performance = {
  now: (): number => globalThis.performance.now(),
  nodeTiming: {
    uvMetricsInfo: {
      get loopCount(): number {
        return ++rounds;
      },
    },
  },
};
