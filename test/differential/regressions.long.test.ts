import "./regressions.test.ts";
