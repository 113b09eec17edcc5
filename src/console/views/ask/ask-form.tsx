import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { Tabs } from "../../ui/tabs.tsx";
import type { SchemaOutline } from "../../worker/inspect.ts";
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
  asked,
  outline,
  onAsk,
}: {
  readonly asked: WrittenQuestion;
  readonly outline: SchemaOutline | undefined;
  readonly onAsk: (question: WrittenQuestion) => void;
}): VNode {
  const [question, setQuestion] = useState(asked);
  const change = (field: keyof WrittenQuestion, value: string): void =>
    setQuestion({ ...question, [field]: value });
  const hasContext = ["data", "facts", "snap", "depth"].some(
    (field) => asked[field as QuestionField] !== "",
  );
  const fieldFor = (field: QuestionField): VNode => (
    <AskField
      key={field}
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
  field,
  question,
  outline,
  onChange,
}: {
  readonly field: QuestionField;
  readonly question: WrittenQuestion;
  readonly outline: SchemaOutline | undefined;
  readonly onChange: (value: string) => void;
}): VNode {
  const [label, example] = fieldLabels[field];
  const suggestions = suggestionsFor(field, question, outline);
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
