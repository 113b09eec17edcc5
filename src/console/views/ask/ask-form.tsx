import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { Tabs } from "../../ui/tabs.tsx";
import type { SchemaOutline } from "../../worker/inspect.ts";
import { useKnownIds } from "./known-ids.ts";
import { fieldsLeft, keepFields } from "./question-draft.ts";
import {
  fieldLabels,
  fieldsOf,
  isComplete,
  type QuestionField,
  type WrittenQuestion,
} from "./question.ts";
import { suggestionsFor } from "./suggestions.ts";

const modeTabs = [
  { id: "check", title: "Check" },
  { id: "subjects", title: "Who can" },
  { id: "entities", title: "What can they reach" },
  { id: "all", title: "All permissions" },
] as const;

/** The fields of a question. */
export function AskForm({
  tenant,
  asked,
  outline,
  onAsk,
}: {
  readonly tenant: string;
  readonly asked: WrittenQuestion;
  readonly outline: SchemaOutline | undefined;
  readonly onAsk: (question: WrittenQuestion) => void;
}): VNode {
  const [question, setQuestion] = useState(() => fieldsLeft(tenant, asked));
  const change = (field: keyof WrittenQuestion, value: string): void => {
    const next = { ...question, [field]: value };
    setQuestion(next);
    keepFields(tenant, asked, next);
  };
  const [hasContext] = useState(() =>
    (["data", "facts", "snap", "depth"] as const).some((field) => question[field] !== ""),
  );
  const fieldFor = (field: QuestionField): VNode => (
    <AskField
      key={field}
      tenant={tenant}
      field={field}
      question={question}
      outline={outline}
      onChange={(value) => change(field, value)}
    />
  );
  return (
    <form
      class="panel ask-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete(question)) onAsk(question);
      }}
    >
      <div class="panel-head">
        <Tabs
          label="Kind of question"
          tabs={modeTabs}
          current={question.mode}
          onChoose={(mode) => change("mode", mode)}
        />
      </div>
      <div class="panel-body stack">
        <div class="ask-fields">
          {fieldsOf[question.mode].map(fieldFor)}
          <button type="submit" class="button primary" disabled={!isComplete(question)}>
            Ask
          </button>
        </div>
        <details open={hasContext}>
          <summary>Context, snap token and depth</summary>
          <div class="ask-context">
            {fieldFor("data")}
            {fieldFor("facts")}
            {fieldFor("snap")}
            {fieldFor("depth")}
          </div>
        </details>
      </div>
    </form>
  );
}

function AskField({
  tenant,
  field,
  question,
  outline,
  onChange,
}: {
  readonly tenant: string;
  readonly field: QuestionField;
  readonly question: WrittenQuestion;
  readonly outline: SchemaOutline | undefined;
  readonly onChange: (value: string) => void;
}): VNode {
  const [label, example] = fieldLabels[field];
  const isReference = field === "subject" || field === "entity";
  const ids = useKnownIds(tenant, isReference ? question[field] : "");
  const suggestions = ids.length > 0 ? ids : suggestionsFor(field, question, outline);
  const listId = `known-${field}`;
  const common = {
    value: question[field],
    placeholder: example,
    spellcheck: false,
    dir: "auto",
    autocomplete: "off",
  } as const;
  return (
    <label class="field">
      <span class="label">{label}</span>
      {field === "facts" || field === "data" ? (
        <textarea
          class="input"
          rows={3}
          {...common}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <input
          class="input mono"
          list={suggestions.length === 0 ? undefined : listId}
          {...common}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
      {suggestions.length > 0 && (
        <datalist id={listId}>
          {suggestions.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
    </label>
  );
}
