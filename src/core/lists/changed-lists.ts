/** Where the events of a person were. */
export interface Place {
  readonly start: number
  readonly end: number
}

/** With more changed lists, all count as changed. */
const mostChanged = 1 << 12

/** The persons whose lists have changed since somebody took them, and where their events were then. */
export class ChangedLists {
  /** Null: all may have moved. */
  private persons: Map<number, Place> | null = null

  note(person: number, start: number, end: number): void {
    const { persons } = this
    if (persons === null || persons.has(person)) return
    if (persons.size === mostChanged) this.persons = null
    else persons.set(person, { start, end })
  }

  noteAll(): void {
    this.persons = null
  }

  /** Null: all events may be elsewhere. */
  get all(): ReadonlyMap<number, Place> | null {
    return this.persons
  }

  /** Those since the last call. */
  take(): ReadonlyMap<number, Place> | null {
    const { persons } = this
    this.persons = new Map()
    return persons
  }
}
