import "./lint.test.ts";
