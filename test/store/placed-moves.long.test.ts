import "./placed-moves.test.ts";
