/** The style of all pages. */
export const style = `
body { margin: 0 auto; max-width: 50rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
header { display: flex; justify-content: space-between; border-bottom: 1px solid; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.25rem 0.5rem 0.25rem 0; text-align: left; border-bottom: 1px solid #ccc; }
form { margin: 0.5rem 0; }
li form { display: inline; }
.body { white-space: pre-wrap; }
`;
