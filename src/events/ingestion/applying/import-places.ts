import { importKeyOf, readRanges, type SeqRange } from '../../../language/catalog/removals.ts'
import type { StagedGroup } from '../ports.ts'

/** Ranges of one value: a transaction writes the last value of an import again. */
const rangesOfPart = 500

interface Place {
  part: number
  ranges: SeqRange[]
  isChanged: boolean
}

/** Where the events of each import are in the log. Consecutive records are one range. */
export class ImportPlaces {
  private readonly places = new Map<string, Place>()

  constructor(stored: ReadonlyMap<string, string>) {
    for (const [key, value] of stored) {
      const [, id, part] = key.split(' ') as [string, string, string]
      const known = this.places.get(id)
      if (!known || known.part < Number(part)) this.places.set(id, { part: Number(part), ranges: readRanges(value), isChanged: false })
    }
  }

  note(importId: string, first: number, last: number): void {
    const place = this.places.get(importId) ?? { part: 0, ranges: [], isChanged: false }
    this.places.set(importId, place)
    const latest = place.ranges.at(-1)
    if (latest?.[1] === first - 1) place.ranges[place.ranges.length - 1] = [latest[0], last]
    else if (place.ranges.length < rangesOfPart || place.isChanged) place.ranges.push([first, last])
    else Object.assign(place, { part: place.part + 1, ranges: [[first, last]] })
    place.isChanged = true
  }

  stage(group: Pick<StagedGroup, 'setMeta'>): void {
    for (const [id, place] of this.places) {
      if (!place.isChanged) continue
      group.setMeta(`${importKeyOf(id)}${place.part}`, JSON.stringify(place.ranges.flat()))
      place.isChanged = false
    }
  }
}
