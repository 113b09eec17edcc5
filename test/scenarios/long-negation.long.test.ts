import "./long-negation.test.ts";
