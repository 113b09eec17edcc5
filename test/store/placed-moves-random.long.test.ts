import "./placed-moves-random.test.ts";
