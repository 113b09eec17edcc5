import "./index-scans.test.ts";
