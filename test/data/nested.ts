import type { Dataset } from "./dataset.ts";
import { nestedDocumentsSchema, nestedFacts, type NestedSizes } from "./nested-documents.ts";
import { nestedClasses } from "./nested-questions.ts";

/** Nested documents with their questions. */
export function nestedDataset(sizes: NestedSizes, questions: number): Dataset {
  return {
    name: `nested_documents_${sizes.documents}`,
    schema: nestedDocumentsSchema,
    key: JSON.stringify(sizes),
    facts: () => nestedFacts(sizes),
    classes: nestedClasses(sizes, questions),
  };
}
