import type { VNode } from "preact";

import { type ApiError, isExpired, lacksScope } from "../api/api-error.ts";
import { token } from "../app/session.ts";
import { openTokenDialog } from "../app/token-dialog-state.ts";

/** What a user can do about an error of a call. */
function adviceOf(error: ApiError): string {
  const { status, code } = error;
  if (status === 401) return "This server asks for a token. Give one that it knows.";
  if (lacksScope(error)) {
    return "Your token may not do this: its scopes do not include the one that is named. The rest of the console still works.";
  }
  if (code === "ERROR_CODE_TENANT_NOT_ALLOWED") {
    return "Your token is for other tenants. Choose one of them, or give another token.";
  }
  if (code === "ERROR_CODE_TENANT_NOT_FOUND") {
    return "There is no such tenant, or it was deleted. Choose another one.";
  }
  if (isExpired(error)) {
    return "The state that this goes on from is no longer kept, or the tenant has moved to another cluster. Try again to see the present state.";
  }
  if (status === 429) return "The server gets more requests than it takes. Wait a moment.";
  if (status === 0) return "Check that the server is running and that this page is its own.";
  if (status === 501) return "The configuration of this server leaves it out.";
  if (status === 503) {
    return "The server cannot answer just now. Try again in a moment. If this stays, the log of the server has the reason.";
  }
  if (status >= 500) return "The server could not answer. Its log has the reason.";
  return "";
}

/** An error of a call: what happened, what to do, and a way to try again. */
export function Problem({
  error,
  retry,
}: {
  readonly error: ApiError;
  readonly retry?: () => void;
}): VNode {
  const advice = adviceOf(error);
  const asksForToken = error.status === 401 || error.status === 403;
  return (
    <div class="notice bad" role="alert">
      <strong>
        <bdi>{error.message}</bdi>
      </strong>
      {error.details.length > 1 && (
        <ul>
          {error.details.slice(0, 20).map((detail) => (
            <li>
              {detail.field !== undefined && <code>{detail.field}: </code>}
              <bdi>{detail.message}</bdi>
            </li>
          ))}
        </ul>
      )}
      {advice !== "" && <p>{advice}</p>}
      <div class="row">
        {asksForToken && (
          <button type="button" class="button small" onClick={openTokenDialog}>
            {token.value === "" ? "Enter a token" : "Change the token"}
          </button>
        )}
        {retry !== undefined && (
          <button type="button" class="button small" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}
