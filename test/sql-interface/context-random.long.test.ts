import "./context-random.test.ts";
