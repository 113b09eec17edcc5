import type { VNode } from "preact";

import { DataTable } from "./data-table.tsx";
import { factsAsEntity, factsAsSubject } from "./fact-page.ts";

/** All that touches an entity or a subject: what is stored of it, and where it is the subject. */
export function AboutOne({
  tenant,
  about,
  form,
  onChange,
}: {
  readonly tenant: string;
  /** As it is written. Empty: none is named yet. */
  readonly about: string;
  /** The form in which it is named. */
  readonly form: VNode;
  readonly onChange: () => void;
}): VNode {
  const id = <bdi class="mono">{about}</bdi>;
  return (
    <div class="about">
      <section class="panel" aria-label="Whose facts">
        {form}
      </section>
      {about.trim() === "" ? (
        <div class="empty">
          <strong>Name an entity or a subject</strong>
          <p>
            Write one above, or choose one in a list of tuples. You see its attributes, its tuples,
            and the tuples in which it is the subject.
          </p>
        </div>
      ) : (
        <div class="split">
          <section class="panel tall" aria-label="As an entity">
            <div class="panel-head">
              <h2>As an entity</h2>
            </div>
            <DataTable
              tenant={tenant}
              title="attributes and tuples"
              source={factsAsEntity(tenant, about)}
              empty={<p>Nothing is stored of {id}.</p>}
              onChange={onChange}
            />
          </section>
          <section class="panel tall" aria-label="As a subject">
            <div class="panel-head">
              <h2>As a subject</h2>
            </div>
            <DataTable
              tenant={tenant}
              title="tuples"
              source={factsAsSubject(tenant, about)}
              empty={<p>No tuple has {id} as its subject.</p>}
              onChange={onChange}
            />
          </section>
        </div>
      )}
    </div>
  );
}
