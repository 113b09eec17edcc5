const mask = "***";

/**
 * A URI without its password, wherever it has one: before the host, or in a parameter that is named
 * for what it is.
 */
export function withoutPasswords(text: string): string {
  return text
    .replace(/(:\/\/[^:/?#]*):.*@/s, `$1:${mask}@`)
    .replaceAll(/([?&][^=&#]*(?:pass|pwd|secret|token|key)[^=&#]*=)[^&#]*/gi, `$1${mask}`);
}
