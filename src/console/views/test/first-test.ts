/** What the editor of tests begins with. */
export const firstTest = `# The model beside this file is tested. docs/testing.md describes the format.
schema: model.perm

relationships: []

attributes: []

scenarios: []
`;
