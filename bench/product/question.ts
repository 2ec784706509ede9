import type { Query } from 'waymark'
import type { Rows } from './contender.ts'

// One question for all contenders. Columns with the same name everywhere: uuid, event (its name or the name's code), timestamp, distinct_id.

/** Where a table of events has what it does not call by the same name everywhere. */
export interface Layout {
  /** What the column `event` has for the name of an event. */
  event(name: string): string
  /** The name of a row's event. */
  readonly eventName: string
  readonly person: string
  /** The id of a person in that column. */
  personLiteral(number: number): string
  text(property: string): string
  number(property: string): string
}
export interface DuckdbLayout extends Layout {
  /** Persons are numbered from 0 to below this. */
  readonly people: number
}

export interface WaymarkQuestion {
  /** With the uuid of `askedPerson`, where the question is of a person. */
  query(personId: string): Query
  rows(answer: never): Rows
}

export interface Question {
  readonly name: string
  readonly waymark: WaymarkQuestion
  clickhouse(layout: Layout): string
  duckdb(layout: DuckdbLayout): string
  readonly isOfPerson?: true
  /** A column of persons, by the contender's own ids. It is compared by their numbers. */
  readonly personColumn?: number
  /** How far two numbers may differ where one contender rounds them. Otherwise they may differ by the order in which fractions are added. */
  readonly tolerance?: number
}

/** Whose events are listed: one of the most active, with a visit before the login. */
export const askedPerson = 1
export const firstDay = '2026-01-02'
export const lastDay = '2026-03-31'
export const dateRange = { date_from: firstDay, date_to: lastDay }
/** For both engines. */
export const inRange = "timestamp >= '2026-01-02 00:00:00' AND timestamp < '2026-04-01 00:00:00'"
export const rowLimit = 10_000_000
