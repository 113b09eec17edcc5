import "./random-life.test.ts";
