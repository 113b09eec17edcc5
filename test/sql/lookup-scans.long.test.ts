import "./lookup-scans.test.ts";
