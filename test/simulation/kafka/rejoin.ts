/** The member has to join its group again. */
export class Rejoin extends Error {
  constructor(reason: string) {
    super(`the group has to be joined again: ${reason}`);
    this.name = 'Rejoin';
  }
}
