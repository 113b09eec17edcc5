import "./condition-time.test.ts";
