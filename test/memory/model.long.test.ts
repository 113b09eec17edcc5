import "./model.test.ts";
