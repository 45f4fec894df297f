/** A schema is wrong: no message can be decoded by it. */
export class SchemaFault extends Error {}
