import type { ComponentChildren, VNode } from "preact";

import { Icon, type IconName, Mark } from "../ui/icons.tsx";
import { useCell } from "./cell.ts";
import { type View, views } from "./place-text.ts";
import { lastPlaceText, place } from "./place.ts";
import { token } from "./session.ts";
import { TenantPick } from "./tenant-pick.tsx";
import { chooseTheme, theme, themes } from "./theme.ts";
import { openTokenDialog } from "./token-dialog-state.ts";
import { TokenDialog } from "./token-dialog.tsx";

export const viewTitles: Readonly<Record<View, string>> = {
  model: "Model",
  data: "Data",
  ask: "Ask",
  test: "Test",
  watch: "Watch",
};

const themeTitles = {
  auto: "System colours",
  light: "Light colours",
  dark: "Dark colours",
} as const;

/** What stands around each view: the tenant, the way to the views, the token and the colours. */
export function Frame({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the view
      </a>
      <header class="side">
        <a class="brand" href="#/">
          <Mark />
          Pemba
        </a>
        <TenantPick />
        <ViewLinks />
        <div class="spacer" />
        <div class="foot">
          <TokenButton />
          <ThemePick />
        </div>
      </header>
      <main class="main" id="main" tabIndex={-1}>
        {children}
      </main>
      <TokenDialog />
    </div>
  );
}

/** The address stays, since its last part is the place. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
}

function ViewLinks(): VNode {
  const { tenant, view } = useCell(place);
  return (
    <nav class="nav" aria-label="Views">
      {tenant !== "" &&
        views.map((name) => (
          <ViewLink
            key={name}
            icon={name}
            title={viewTitles[name]}
            href={lastPlaceText(tenant, name)}
            isCurrent={name === view}
          />
        ))}
      <ViewLink icon="tenants" title="Tenants" href="#/" isCurrent={tenant === ""} />
    </nav>
  );
}

function ViewLink({
  icon,
  title,
  href,
  isCurrent,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly href: string;
  readonly isCurrent: boolean;
}): VNode {
  return (
    <a href={href} aria-current={isCurrent ? "page" : undefined}>
      <Icon name={icon} />
      {title}
    </a>
  );
}

function TokenButton(): VNode {
  const hasToken = useCell(token) !== "";
  return (
    <button type="button" class="button small" onClick={openTokenDialog}>
      <Icon name="key" />
      <span class="word">{hasToken ? "Token set" : "No token"}</span>
    </button>
  );
}

function ThemePick(): VNode {
  const current = useCell(theme);
  const next = themes[(themes.indexOf(current) + 1) % themes.length] ?? "auto";
  return (
    <button
      type="button"
      class="button small"
      aria-label={`${themeTitles[current]}, change to: ${themeTitles[next]}`}
      onClick={() => chooseTheme(next)}
    >
      <Icon name="sun" />
      <span class="word">{themeTitles[current].split(" ", 1)}</span>
    </button>
  );
}
