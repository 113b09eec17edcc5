import { anyText, oneOf } from "../kind.ts";
import { option } from "../option.ts";

/** The log: its level, format and file. */
export const loggerOptions = {
  "logger.level": option(oneOf("error", "warn", "info", "debug"), {
    flag: "log-level",
    default: "info",
    about: "minimum level of log lines; debug has one line for each request",
  }),
  "logger.output": option(oneOf("text", "json"), {
    flag: "log-output",
    default: "text",
    about: "form of a log line",
  }),
  "logger.file": option(anyText, {
    flag: "log-file",
    default: "",
    about: "file or device to log to, no pipe; empty for standard output",
  }),
} as const;
