import "./batched-writes-random.test.ts";
