/** What is wrong with a schema, so that no message can be decoded by it. */
export class SchemaFault extends Error {}
