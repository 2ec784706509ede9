import { setImmediate as turn } from 'node:timers/promises'
import { BrokenInvariant, mustHold } from '../../errors/invariants.ts'
import { type Deferred, deferred } from '../../lib/flow/deferred.ts'
import { collectGarbage } from '../../lib/memory/collect-garbage.ts'
import type { MemoryHolder, MemoryShare } from '../../lib/memory/memory-share.ts'
import type { ActorOrder } from './actor-order.ts'
import type { SomeColumn } from './columns.ts'
import { EventLists, mostRecords } from './event-lists.ts'
import { canFollow, followRecent, hasAll, recentValues, remember } from './follow-recent.ts'
import type { KeptDayCounts } from './kept/kept-counts.ts'
import type { ActorOwners } from './kept-owners.ts'
import { KeyValues } from './key-values.ts'
import { ListColumn } from './list-column.ts'
import { LoadedLists, type Merges } from './loaded-lists.ts'
import { madeBytes, madeColumn } from './made-columns.ts'
import { DamagedPages, PagesNotWritten, type PagesView } from './pages/page.ts'
import { PageStore, pagesView } from './pages/page-store.ts'
import type {
  ActorSpec,
  ColumnSource,
  ColumnSpec,
  EventBatch,
  KeySpec,
  LackingValues,
  ListFiles,
  ListSource,
  PersonSpec,
  ReadKind,
  ReadSpec,
  RecentEvents,
} from './ports.ts'
import type { KeptSelections } from './selections.ts'
import { survivorIn } from './survivor.ts'

/** Lists of fewer events are read from the store as fast as from files. */
const fewEvents = 50_000
const saveAfterMs = 10_000
/** The engine holds the rows of a statement while they are read. */
const recordsPerStatement = 2_000_000
/** Where their events are is found for several statements at once, in one pass over the lists, and takes 4 bytes for each record. */
const recordsPerIndex = 2 * recordsPerStatement
/** Shared memory is freed in large steps only: it takes a garbage collection. */
const manyBytes = 64 * 2 ** 20
/** Lists and columns are read by several statements. What was removed, split or merged in between would be in some of them and not in others, so they are read again, but not without end. */
const mostAttempts = 4
/** Further keys are read together with all others. */
const mostChangedKeys = 1000

/** What a reader gets: the lists, and the columns that it asked for, in that order. Its arrays are shared between threads. */
export interface Listed {
  readonly lists: Pick<EventLists, 'start' | 'end' | 'time' | 'event' | 'seq' | 'persons' | 'events' | 'used'>
  readonly columns: readonly SomeColumn[]
  /** Null: the actors are persons, or only whose they are was asked for. */
  readonly order: ActorOrder | null
  /** Whose the actors are. Absent: that was not asked for. */
  readonly owners?: ActorOwners
  /** Absent: none are kept. */
  readonly selections?: KeptSelections
  /** The same, of whole days. */
  readonly counts?: KeptDayCounts
  /** Further events, in files. Absent, null: there are none. */
  readonly pages?: PagesView | null
}

export interface ListOptions {
  /** Null: the lists are not kept on disk. */
  readonly files?: ListFiles | null
  /** The folder of lists that do not fit into memory. Null: there are none. */
  readonly pagesIn?: string | null
  /** Of the store, when no query is there. */
  readonly fingerprint?: ListSource['fingerprint']
  /** Null: the lists follow the store alone. */
  readonly recent?: RecentEvents | null
  /** Called after much shared memory became unused: other threads that have seen it release it then. */
  readonly release?: () => void
  /** Receives errors of files: the lists go on without them. */
  readonly report?: (error: unknown) => void
}

/** The lists of a project. The first query creates them, and each further query updates them from the store. */
export class ProjectLists implements MemoryHolder {
  private readonly memory: MemoryShare
  private readonly files: ListFiles | null
  private readonly pages: PageStore | null
  private isRewriting = false
  private readonly fingerprint: ListSource['fingerprint']
  private readonly recent: RecentEvents | null
  private losses: number
  private readonly release: () => void
  private readonly report: (error: unknown) => void
  /** The last record whose event is in the files. */
  private savedSeq = 0
  /** There may be files of use. */
  private hasFiles = true
  private saving: NodeJS.Timeout | null = null
  /** Bytes that were released and may not be free yet. */
  private discarded = 0
  private loaded: LoadedLists | null = null
  private isChanging = false
  /** Loads in the background. */
  private loads = 0
  /** The lists have changed since their last complete update. */
  private isIncomplete = false
  /** Of what was read last, some may be of another state than the rest. */
  private isUnsure = false
  /** More than all of the budget: no query counts the events again to find that out. */
  private isTooLarge: boolean
  /** Columns that take more than all of the budget: no query reads them again to find that out. */
  private readonly tooLarge = new Set<string>()
  /** Serializes the changes. */
  private changing: Promise<unknown> = Promise.resolve()
  private readers = 0
  private idle: Deferred<void> | null = null

  constructor(
    memory: MemoryShare,
    {
      files = null,
      pagesIn = null,
      fingerprint = async () => '',
      recent = null,
      release = () => undefined,
      report = () => undefined,
    }: ListOptions = {},
  ) {
    this.memory = memory
    this.files = files
    this.pages = pagesIn === null ? null : new PageStore(pagesIn, memory.most, recordsPerStatement)
    this.fingerprint = fingerprint
    this.recent = recent
    this.losses = recent?.losses ?? 0
    this.release = release
    this.report = report
    this.isTooLarge = memory.most === 0
  }

  /** Runs a reader over lists that include everything up to a record of the log. Null if they do not fit into memory. */
  async use<T>(
    source: ListSource,
    seq: number,
    wanted: ColumnSource,
    read: (open: Listed) => Promise<T>,
  ): Promise<{ readonly answer: T } | null> {
    return this.reading(() => this.open(source, seq, wanted), wanted, read)
  }

  /** The same without a store: over lists that follow the latest events. Null if that takes more than they have. */
  async useRecent<T>(seq: number, wanted: ColumnSource, read: (open: Listed) => Promise<T>): Promise<{ readonly answer: T } | null> {
    if (this.loads > 0) return null // it may take long
    return this.reading(() => this.openRecent(seq, wanted), wanted, read)
  }

  private async reading<T>(
    open: () => Promise<Listed | null>,
    wanted: ColumnSource,
    read: (open: Listed) => Promise<T>,
  ): Promise<{ readonly answer: T } | null> {
    const change = this.changing.then(open)
    this.changing = change.catch((error: unknown) => {
      if (error instanceof BrokenInvariant) this.report(error)
    })
    const listed = await change
    if (!listed) return null
    try {
      return { answer: await read(listed) }
    } catch (error) {
      if (error instanceof BrokenInvariant) this.report(error)
      const damage = damageIn(error)
      if (!damage) throw error
      this.leaveDamaged(damage)
      return null
    } finally {
      for (const [i, spec] of wanted.columns.entries())
        if ((spec.of === 'person' && spec.key === '') || spec.of === 'made') this.discard(listed.columns[i]!.values.byteLength)
      if (--this.readers === 0) this.idle?.resolve()
    }
  }

  /** What is lacking is read from the store; else perhaps from files, which is another matter. */
  get isLoaded(): boolean {
    return this.loaded !== null
  }

  /** What would be read from the store before the lists answer, approximately; what is read for each query does not count. Null: another load has to end first. */
  lacking(seq: number, { columns, actors }: Pick<ColumnSource, 'columns' | 'actors'>): LackingValues | null {
    if (this.isTooLarge) return {}
    if (this.loads > 0) return null
    const { loaded } = this
    if (!loaded) return { lists: seq }
    const lacks = (upTo: number) => Math.max(0, seq - upTo)
    const all: { -readonly [K in keyof LackingValues]: LackingValues[K] } = { lists: lacks(loaded.upTo) }
    const add = (kind: ReadKind, values: number) => {
      all[kind] = (all[kind] ?? 0) + values
    }
    for (const spec of columns) {
      if (spec.of === 'event') add(spec.key === actors?.column.key ? 'actors' : spec.type, lacks(loaded.columns.get(spec.key)?.seq ?? 0))
      else if (spec.of === 'key' && spec.isOfEvents && !loaded.keyValues.has(spec.key)) add('codes', seq)
    }
    return all
  }

  /** Reads what a query lacks, while others are answered without the lists. */
  async load(source: ListSource, seq: number, wanted: ColumnSource): Promise<void> {
    this.loads++
    try {
      await this.use(source, seq, wanted, async () => undefined)
    } finally {
      this.loads--
    }
  }

  /** Reads the files, so that the first query does not wait for them. Nothing is evicted for it, and nothing read from the store. */
  async preload(source: Pick<ListSource, 'state' | 'fingerprint'>): Promise<void> {
    const change = this.changing.then(async () => {
      if (this.loaded || this.isTooLarge) return
      this.loads++
      this.isChanging = true
      try {
        const { changedSeq } = await source.state()
        this.loaded = await this.restored(source, changedSeq, this.memory.most - this.memory.taken)
        if (this.loaded) this.loaded.upTo = this.loaded.seq
      } finally {
        this.loads--
        this.isChanging = false
      }
    })
    this.changing = change.catch(() => undefined)
    await change
  }

  evict(): boolean {
    if (this.readers > 0 || this.isChanging) return false
    this.discard(this.loaded ? this.loaded.bytes : 0)
    this.loaded = null
    return true
  }

  /** Writes what the files lack, and frees the memory. */
  async close(): Promise<void> {
    if (this.saving) clearTimeout(this.saving)
    const change = this.changing.then(async () => {
      await this.save()
      await this.readersGone()
      this.forget()
    })
    this.changing = change
    await change
  }

  /** Writes the lists while nothing reads or changes them in between. */
  private async save(): Promise<void> {
    const { loaded, files } = this
    if (!loaded || !files || loaded.seq === this.savedSeq || (!loaded.pages && loaded.events < fewEvents)) return
    if (this.recent && this.recent.stored < loaded.upTo) return // another process may get others
    try {
      await files.write(loaded.image(await this.fingerprint(loaded.seq)))
      this.savedSeq = loaded.seq
      this.hasFiles = true
      await this.pages?.tidy(loaded.pages)
    } catch (error) {
      this.report(error)
    }
  }

  /** Events that have moved into memory go back to files, behind what is asked now. Until then statements answer. */
  private scheduleRewrite(): void {
    if (this.isRewriting) return
    this.isRewriting = true
    this.changing = this.changing
      .then(() => this.rewrite())
      .catch((error: unknown) => {
        if (error instanceof PagesNotWritten) {
          this.reportUnwritten(error)
          return
        }
        this.report(error)
        this.forget()
      })
      .finally(() => {
        this.isRewriting = false
      })
  }

  private async rewrite(): Promise<void> {
    const { loaded } = this
    if (!loaded?.pages) return
    this.loads++
    this.isChanging = true
    try {
      await this.readersGone()
      this.loaded = await this.pages!.rewrite(loaded)
      this.discard(loaded.bytes)
      this.savedSeq = 0
      await this.save()
      if (!this.hasFiles) await this.pages!.tidy(this.loaded.pages)
      this.memory.take(this, Math.min(this.loaded.bytes, this.memory.most))
    } finally {
      this.loads--
      this.isChanging = false
    }
  }

  private reportUnwritten(error: PagesNotWritten): void {
    this.report(
      new Error(`The lists of events in core/pages cannot be written, and statements answer for a while: ${error.message}`, {
        cause: error,
      }),
    )
  }

  /** Damaged files are no reason to fail: the lists are rebuilt. */
  private leaveDamaged(error: DamagedPages): void {
    this.report(new Error(`The lists of events in core/pages cannot be used, and are rebuilt: ${error.message}`, { cause: error }))
    this.forget()
    this.hasFiles = false
  }

  /** Lists that were read from the store are written once nobody waits for them, so that a process that is killed does not have to read them again. */
  private scheduleSave(): void {
    if (!this.files || this.savedSeq > 0 || this.saving) return
    this.saving = setTimeout(() => {
      this.saving = null
      this.changing = this.changing.then(() => this.save())
    }, saveAfterMs).unref()
  }

  /** The lists in the files, if the store still has the same events, and they take no more than `most` bytes. */
  private async restored(
    source: Pick<ListSource, 'fingerprint'>,
    changedSeq: number,
    most = Number.POSITIVE_INFINITY,
  ): Promise<LoadedLists | null> {
    if (!this.files || !this.hasFiles) return null
    this.hasFiles = false // unless they turn out to be of use
    let isTooMuch = false
    try {
      let found: ReturnType<typeof LoadedLists.ofImage> = null
      const open = (about: unknown) => {
        found = LoadedLists.ofImage(about)
        isTooMuch = found !== null && found.arrays.reduce((sum, { byteLength }) => sum + byteLength, 0) > most
        return isTooMuch ? null : (found?.arrays ?? null)
      }
      if (!(await this.files.read(open))) {
        this.hasFiles = isTooMuch // for a query
        return null
      }
      const { fingerprint, seq, finish } = found!
      if (found!.changedSeq !== changedSeq) return null
      if (found!.pages && !this.pages?.isFor(found!.pages.events, found!.pages.start.length)) return null
      if ((await source.fingerprint(seq)) !== fingerprint) return null
      const loaded = finish()
      if (!this.makeRoom(loaded, 0, new Set())) return null
      this.savedSeq = seq
      this.hasFiles = true
      return loaded
    } catch (error) {
      this.report(error)
      return null
    }
  }

  /** Updates the lists and registers the reader, before anything else can change them. */
  private async open(source: ListSource, seq: number, wanted: ColumnSource): Promise<Listed | null> {
    if (this.isTooLarge || seq > mostRecords) return null
    this.isChanging = true
    try {
      await this.stored()
      let isBehind = !this.loaded || this.loaded.upTo < seq || this.isUnsure
      for (let attempt = 0; attempt < mostAttempts; attempt++) {
        if (isBehind) {
          await this.readersGone()
          if (!(await this.catchUp(source, seq))) return null
        }
        const watched = watchReads(wanted)
        this.isUnsure = true
        const columns = await this.columnsFor(watched, seq, this.loaded!, attempt > 0)
        if (!columns) return null
        const hasPersons = wanted.columns.some((spec) => spec.of === 'person')
        const found = isBehind || hasPersons || watched.reads > 0 ? await source.marks() : null
        const isMerged = found !== null && (isBehind || hasPersons) && found.mergesMark !== this.loaded!.merges.mark
        const isChanged = found !== null && found.changedSeq !== this.loaded!.changedSeq
        if (!isMerged && !isChanged) {
          this.isUnsure = false
          return await this.opened(wanted, columns, this.loaded!)
        }
        isBehind = true
      }
      this.forget()
      return null // a statement sees one state
    } catch (error) {
      const damage = damageIn(error)
      if (damage) {
        this.leaveDamaged(damage)
        return null
      }
      if (this.isIncomplete || !this.loaded) this.forget()
      if (!(error instanceof PagesNotWritten)) throw error
      this.reportUnwritten(error)
      return null
    } finally {
      this.isChanging = false
    }
  }

  /** The same from memory alone. */
  private async openRecent(seq: number, wanted: ColumnSource): Promise<Listed | null> {
    const { loaded, recent } = this
    if (!loaded || !recent || seq > mostRecords) return null
    this.isChanging = true
    try {
      if (loaded.upTo < seq) {
        await this.readersGone()
        if (this.losses !== recent.losses || !canFollow(loaded, recent)) return null
        this.isIncomplete = true
        followRecent(loaded, recent)
        this.isIncomplete = false
        if (!this.fits(loaded)) return null
      }
      if (this.isUnsure || loaded.upTo < seq || !hasAll(loaded, wanted, recent)) return null
      const columns = await this.columnsFor(wanted, seq, loaded)
      return columns && (await this.opened(wanted, columns, loaded))
    } catch (error) {
      const damage = damageIn(error)
      if (damage) {
        this.leaveDamaged(damage)
        return null
      }
      if (this.isIncomplete) this.forget()
      throw error
    } finally {
      this.isChanging = false
    }
  }

  /** Registers the reader. Null if its actors do not fit into memory. */
  private async opened(wanted: ColumnSource, columns: readonly SomeColumn[], loaded: LoadedLists): Promise<Listed | null> {
    const actors = wanted.actors ? await this.actorsFor(wanted, wanted.actors, loaded) : { order: null }
    if (!actors) return null
    this.memory.touch(this)
    this.readers++
    const counts = this.countsOf(loaded)
    const { lists, pages } = loaded
    if (!pages) return { lists, columns, ...actors, selections: this.selectionsOf(loaded), counts }
    const { start, end, time, event, seq, persons, used } = lists
    const all = { start, end, time, event, seq, persons, used, events: loaded.events }
    return { lists: all, columns, ...actors, counts, pages: pagesView(pages, wanted.columns, columns) }
  }

  /** Resolves when the store has everything that the lists have. */
  private async stored(): Promise<void> {
    const { loaded, recent } = this
    if (!recent) return
    if (loaded && recent.stored < loaded.upTo) await recent.untilStored(loaded.upTo)
    if (this.losses === recent.losses) return
    await this.readersGone()
    this.losses = recent.losses
    this.forget()
  }

  /** They take memory that nothing else uses. */
  private selectionsOf(loaded: LoadedLists): KeptSelections {
    const { memory } = this
    return {
      find: (key, reselect) => {
        const { selections } = loaded
        const before = selections.bytes
        const found = selections.find(key, reselect)
        if (this.loaded !== loaded || selections.bytes === before) return found
        this.discard(Math.max(0, before - selections.bytes))
        if (memory.take(this, loaded.bytes)) return found
        this.discard(selections.clear())
        memory.take(this, loaded.bytes)
        return { selection: null, isWanted: false }
      },
      keep: (key, selection) => {
        if (this.loaded !== loaded) return
        this.discard(loaded.selections.keep(key, selection, memory.most - memory.taken))
        memory.take(this, loaded.bytes)
      },
    }
  }

  private countsOf(loaded: LoadedLists): KeptDayCounts {
    const { memory } = this
    return {
      find: (key, condition) => {
        const before = loaded.counts.bytes
        const found = loaded.counts.find(key, condition)
        if (this.loaded !== loaded || loaded.counts.bytes <= before || memory.take(this, loaded.bytes)) return found
        loaded.counts.clear()
        memory.take(this, loaded.bytes)
        return { counts: null, isWanted: false }
      },
      keep: (key, counts) => {
        if (this.loaded !== loaded) return
        loaded.counts.keep(key, counts, memory.most - memory.taken)
        memory.take(this, loaded.bytes)
      },
      leave: (key) => loaded.counts.leave(key),
    }
  }

  private async readersGone(): Promise<void> {
    if (this.readers === 0) return
    this.idle = deferred()
    await this.idle.promise
    this.idle = null
  }

  private async catchUp(source: ListSource, upTo: number): Promise<boolean> {
    const stored = await source.state()
    const { seq, mergesMark: mark, changedSeq } = stored
    if (this.loaded && this.loaded.changedSeq !== changedSeq) this.forget()
    this.loaded ??= await this.restored(source, changedSeq)
    const known = this.loaded?.merges
    const merges = known?.mark === mark ? known : { mark, survivorOf: await source.merges() }
    if (known && known !== merges && !follows(known.survivorOf, merges.survivorOf)) this.forget()
    let loaded = this.loaded ?? (await this.begin(source, merges, changedSeq, seq))
    if (!loaded) return false
    this.isIncomplete = loaded.merges !== merges
    if (loaded.merges !== merges) {
      const isNew = ([merged, survivor]: readonly [number, number]) => loaded!.merges.survivorOf.get(merged) !== survivor
      for (const [merged, survivor] of [...merges.survivorOf].filter(isNew)) loaded.merge(merged, survivor)
    }
    const resolve = resolver(merges)
    for (let from = loaded.seq; from < seq; from += recordsPerStatement) {
      const into: LoadedLists = loaded
      await source.events(from, Math.min(seq, from + recordsPerStatement), (batch) => {
        this.isIncomplete = true
        into.add(resolve(batch))
      })
      if (loaded.pages && this.pages!.isOverfull(loaded))
        loaded = await this.pages!.rewrite(Object.assign(loaded, { seq: Math.min(seq, from + recordsPerStatement) }))
    }
    this.loaded = Object.assign(loaded, { seq: Math.max(seq, loaded.seq), upTo: Math.max(seq, upTo), merges })
    this.isIncomplete = false
    await mustHaveEvery(source, stored, loaded)
    return this.fits(loaded)
  }

  /** Whether the lists still fit into memory, and forgets them if not. */
  private fits(loaded: LoadedLists): boolean {
    this.isTooLarge = !loaded.pages && loaded.lists.bytes > this.memory.most
    if (loaded.pages && this.pages!.isFull(loaded)) this.scheduleRewrite()
    if (this.makeRoom(loaded, 0, new Set())) {
      this.scheduleSave()
      return true
    }
    if (!loaded.pages) this.forget()
    return false
  }

  /** Null if they do not fit into memory. */
  private async columnsFor(wanted: ColumnSource, seq: number, loaded: LoadedLists, isAgain = false): Promise<readonly SomeColumn[] | null> {
    const { lists, columns } = loaded
    const ofEvents = wanted.columns.filter((spec) => spec.of === 'event')
    const ofPersons = wanted.columns.filter((spec) => spec.of === 'person')
    const made = wanted.columns.filter((spec) => spec.of === 'made')
    const keys = new Set(ofEvents.map(({ key }) => key))
    if (ofEvents.some(({ key }) => this.tooLarge.has(key))) return null
    const missing = ofEvents.filter(({ key }) => !columns.has(key))
    const mustFit = () => this.mustFit(loaded, keys)
    if (loaded.pages && missing.length > 0 && this.pages!.isResting) return null
    const further = missing.reduce((sum, { type }) => sum + ListColumn.bytesOf(type, lists.capacity), 0)
    const making = loaded.pages ? Math.min(this.pages!.making, Math.max(0, this.memory.most - loaded.bytes - further)) : 0
    if (missing.length > 0 && !this.makeRoom(loaded, further + making, keys)) return null
    for (const spec of missing)
      loaded.addColumn(spec.key, this.pages?.newColumn(spec, lists.capacity) ?? new ListColumn(spec.type, lists.capacity), 0)
    try {
      if (loaded.pages) await this.pages!.readColumns(wanted, ofEvents, loaded, making, mustFit)
      await this.readNew(wanted, ofEvents, loaded, mustFit)
    } catch (error) {
      for (const key of keys) this.discard(loaded.dropColumn(key))
      if (causedBy(error, ColumnTooLarge)) return null
      throw error
    }
    for (const key of keys) loaded.touchColumn(key)
    if (loaded.pages && this.pages!.dropColumns(loaded, keys)) return null
    const temporary = made.reduce((sum, { type }) => sum + madeBytes(type, lists), 0)
    if (keys.size + temporary > 0 && !this.makeRoom(loaded, temporary, keys)) return null
    const persons = new Map<ColumnSpec, SomeColumn>()
    for (const spec of ofPersons) persons.set(spec, await this.valuesOfPersons(wanted, spec, seq, loaded, isAgain))
    const found: SomeColumn[] = []
    for (const spec of wanted.columns) {
      if (spec.of === 'event') found.push(columns.get(spec.key)!.column)
      else if (spec.of === 'person') found.push(persons.get(spec)!)
      else if (spec.of === 'key') found.push(await this.keyValues(wanted, spec, found[spec.keys]!, loaded))
      else found.push(await withPauses(madeColumn(spec.make, found, lists)))
    }
    // Values of keys and of persons may have needed more memory than there was.
    return (made.length === 0 && ofPersons.length === 0) || this.makeRoom(loaded, temporary, keys) ? found : null
  }

  /** What has changed up to a record is read; `isAgain`: perhaps by later records, too. Others may still read the array of a query before. */
  private async valuesOfPersons(
    wanted: ColumnSource,
    spec: PersonSpec,
    seq: number,
    loaded: LoadedLists,
    isAgain: boolean,
  ): Promise<SomeColumn> {
    const known = loaded.ofPersons.get(spec.key)
    const found = known ?? { column: new ListColumn(spec.type, loaded.lists.persons), seq: 0 }
    loaded.ofPersons.delete(spec.key)
    const { column } = found
    let isNew = known === undefined
    // The lists may have events, and persons, behind the record that the query asked for.
    const upTo = Math.max(seq, loaded.upTo)
    if (!known || known.seq < upTo || isAgain)
      await wanted.ofPersons(spec, found.seq, (numbers, [part]) => {
        if (numbers.length === 0) return
        const most = numbers.reduce((max, person) => Math.max(max, person), 0)
        if (!isNew || most >= column.values.length) column.renew(Math.max(column.values.length, most + 1 + (isNew ? 0 : most >> 4)))
        isNew = true
        column.write(part!, Int32Array.from(numbers))
      })
    if (column.values.length < loaded.lists.persons) column.renew(loaded.lists.persons + (loaded.lists.persons >> 4))
    found.seq = Math.max(found.seq, upTo)
    this.discard(column.takeDiscarded())
    if (spec.key !== '') loaded.ofPersons.set(spec.key, found)
    const { id, values, texts, numbers } = column
    return { id, values, texts, numbers }
  }

  /** Kept for the next query: what depends on more than the events is read again, but for what it is without a row. */
  private async keyValues(wanted: ColumnSource, spec: KeySpec, { values, texts }: SomeColumn, loaded: LoadedLists): Promise<SomeColumn> {
    const known = loaded.keyValues.get(spec.key)
    const found = known ?? new KeyValues(spec)
    loaded.keyValues.delete(spec.key)
    if (!known || !spec.isOfEvents || known.seq < loaded.seq) {
      const changed = known && spec.isOfEvents ? changedKeys(loaded, known.seq, values) : null
      const asked = changed && changed.size <= mostChangedKeys ? Array.from(changed, (code) => texts[code]!) : null
      await found.update(texts, asked === null, (which, take) => wanted.ofKeys(spec, which === 'absent' ? which : asked, take))
      found.seq = loaded.seq
    }
    loaded.keyValues.set(spec.key, found)
    return found.byCode
  }

  /** Null if it does not fit into memory. */
  private async actorsFor(
    { columns }: ColumnSource,
    { column: { key }, except, isOwned = false }: ActorSpec,
    loaded: LoadedLists,
  ): Promise<Pick<Listed, 'order' | 'owners'> | null> {
    const keys = new Set(columns.flatMap((spec) => (spec.of === 'event' ? [spec.key] : [])))
    if (isOwned) {
      if (!this.makeRoom(loaded, loaded.ownersBytes(key), keys)) return null
      const { several } = await withPauses(loaded.ownersBy(key, except))
      return { order: null, owners: { several, none: except === null ? -1 : loaded.columns.get(key)!.column.codeOf(except) } }
    }
    if (loaded.pages || !this.makeRoom(loaded, loaded.orderBytes(key), keys)) return null
    return { order: await withPauses(loaded.orderBy(key, except)) }
  }

  /** Reads the values that columns lack: columns that are equally old in one statement. */
  private async readNew(
    wanted: ColumnSource,
    specs: readonly ReadSpec[],
    { lists, columns, seq }: LoadedLists,
    mustFit: () => void,
  ): Promise<void> {
    for (const from of new Set(specs.map(({ key }) => columns.get(key)!.seq))) {
      if (from >= seq) continue
      const old = specs.filter(({ key }) => columns.get(key)!.seq === from)
      let indexOf: Int32Array = new Int32Array(0)
      let first = from
      for (let after = from; after < seq; after += recordsPerStatement) {
        if (after >= first + indexOf.length - 1) {
          first = after
          indexOf = lists.indexesAfter(first, Math.min(seq, first + recordsPerIndex))
        }
        const tokens = this.recent ? old.map((spec) => recentValues(this.recent!, spec, after)) : []
        await wanted.ofEvents(old, after, Math.min(seq, after + recordsPerStatement), (records, parts) => {
          const indexes = new Int32Array(records.length)
          for (let row = 0; row < records.length; row++) indexes[row] = indexOf[records[row]! - first]!
          for (const [i, part] of parts.entries()) {
            const loadedColumn = columns.get(old[i]!.key)!
            loadedColumn.column.write(part, indexes)
            if (tokens[i]) remember(loadedColumn, records, part, tokens[i])
          }
          mustFit()
        })
      }
      for (const { key } of old) columns.get(key)!.seq = seq
      this.discard(old.reduce((sum, { key }) => sum + columns.get(key)!.column.takeDiscarded(), 4 * (seq - from)))
    }
  }

  /** Called while they are read: very many different texts take more memory than there is. */
  private mustFit({ lists, columns }: LoadedLists, keys: ReadonlySet<string>): void {
    let bytes = lists.bytes
    for (const key of keys) bytes += columns.get(key)!.column.bytes
    if (bytes <= this.memory.most) return
    const sizes = Array.from(keys, (key) => [key, columns.get(key)!.column.bytes] as const)
    this.tooLarge.add(sizes.reduce((most, one) => (one[1] > most[1] ? one : most))[0])
    throw new ColumnTooLarge()
  }

  /** Drops the columns that were not used for the longest time, until the others and `further` bytes fit. */
  private makeRoom(loaded: LoadedLists, further: number, keys: ReadonlySet<string>): boolean {
    const { lists, columns } = loaded
    this.discard(lists.takeDiscarded())
    if (this.memory.take(this, loaded.bytes + further)) return true
    this.discard(loaded.selections.clear())
    loaded.counts.clear()
    if (this.memory.take(this, loaded.bytes + further)) return true
    const dropColumns = Array.from(columns.keys(), (key) => () => (keys.has(key) ? 0 : loaded.dropColumn(key)))
    const dropValues = [...loaded.keyValues.keys(), ...loaded.ofPersons.keys()].map((key) => () => droppedValues(loaded, key))
    // Columns in files take little memory, and are long to read.
    for (const drop of loaded.pages ? [...dropValues, ...dropColumns] : [...dropColumns, ...dropValues]) {
      this.discard(drop())
      if (this.memory.take(this, loaded.bytes + further)) return true
    }
    if (loaded.pages) {
      this.memory.take(this, Math.min(loaded.bytes, this.memory.most))
      return false
    }
    for (const key of keys) this.discard(loaded.dropColumn(key))
    this.memory.take(this, loaded.bytes)
    return false
  }

  /** Empty lists with room for all events. Null if there is not enough memory. */
  private async begin(source: ListSource, merges: Merges, changedSeq: number, seq: number): Promise<LoadedLists | null> {
    this.tooLarge.clear()
    const { person, events } = await source.counts()
    const all = events.reduce((sum, count) => sum + count, 0)
    const pages = this.pages?.isFor(all, person.length) ? this.pages : null
    if (pages?.isResting) return null
    if (!this.take(pages ? pages.making : EventLists.bytesOf(all, person.length))) return null
    const survivorOf = (who: number) => merges.survivorOf.get(who) ?? who
    const byPerson = new Int32Array(person.reduce((most, who) => Math.max(most, survivorOf(who) + 1), 0))
    for (let i = 0; i < person.length; i++) byPerson[survivorOf(person[i]!)]! += events[i]!
    if (pages) {
      const made = await pages.make(source, resolver(merges), byPerson, seq, merges, changedSeq)
      await pages.tidy(made.pages) // there was nothing of use
      return made
    }
    const lists = new EventLists()
    lists.expect(byPerson)
    return new LoadedLists(lists, 0, merges, changedSeq)
  }

  /** Few events are ever removed, so what is too large stays so. */
  private take(bytes: number): boolean {
    this.isTooLarge = bytes > this.memory.most
    return this.memory.take(this, bytes)
  }

  private discard(bytes: number): void {
    this.discarded += bytes
    if (this.discarded < manyBytes) return
    this.discarded = 0
    // Once those who hold it have left.
    setImmediate(() => {
      collectGarbage()
      this.release()
    })
  }

  private forget(): void {
    this.isUnsure = false
    this.discard(this.loaded ? this.loaded.bytes : 0)
    this.loaded = null
    this.isIncomplete = false
    this.memory.give(this)
  }
}

class ColumnTooLarge extends Error {}

/** What a statement passes its rows to may meet it: the error of the statement has it as its cause. */
const causedBy = <E extends Error>(error: unknown, kind: new (...args: never[]) => E): E | null =>
  error instanceof kind ? error : error instanceof Error && error.cause instanceof kind ? error.cause : null
const damageIn = (error: unknown): DamagedPages | null => causedBy(error, DamagedPages)

/** Counts what is read from the store. */
function watchReads(wanted: ColumnSource): ColumnSource & { readonly reads: number } {
  let reads = 0
  const counted =
    <A extends readonly unknown[]>(read: (...args: A) => Promise<void>) =>
    (...args: A): Promise<void> => {
      reads++
      return read(...args)
    }
  return {
    columns: wanted.columns,
    actors: wanted.actors ?? null,
    ofEvents: counted((...args) => wanted.ofEvents(...args)),
    ofPersons: counted((...args) => wanted.ofPersons(...args)),
    ofKeys: counted((...args) => wanted.ofKeys(...args)),
    get reads() {
      return reads
    },
  }
}

/** `stored`: before they followed the store. */
async function mustHaveEvery(
  source: ListSource,
  stored: Awaited<ReturnType<ListSource['state']>>,
  { seq, events }: LoadedLists,
): Promise<void> {
  if (seq !== stored.seq || events === stored.events) return
  if ((await source.marks()).changedSeq !== stored.changedSeq) return // events were removed meanwhile: the lists are made again
  mustHold('lists have every event', false, () => ({ record: seq, lists: events, store: stored.events }))
}

/** Returns the bytes that it had. */
function droppedValues({ keyValues, ofPersons }: LoadedLists, key: string): number {
  const bytes = (keyValues.get(key)?.bytes ?? 0) + (ofPersons.get(key)?.column.bytes ?? 0)
  keyValues.delete(key)
  ofPersons.delete(key)
  return bytes
}

async function withPauses<R>(steps: Generator<void, R, void>): Promise<R> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await turn()
  }
}

/** The codes of the events after a record of the log. */
function changedKeys({ lists, seq }: LoadedLists, after: number, values: SomeColumn['values']): ReadonlySet<number> {
  const codes = new Set<number>()
  for (const index of lists.indexesAfter(after, seq)) if (index >= 0) codes.add(values[index]!)
  return codes
}

/** True if lists with the first merges can be updated to the second ones by merging further lists. */
function follows(before: ReadonlyMap<number, number>, now: ReadonlyMap<number, number>): boolean {
  for (const [merged, survivor] of before) {
    const later = now.get(merged)
    if (later !== survivor && (later === undefined || now.get(survivor) !== later)) return false
  }
  return true
}

/** Replaces the numbers of merged persons by those of their survivors, in place. */
function resolver({ survivorOf }: Merges): (batch: EventBatch) => EventBatch {
  if (survivorOf.size === 0) return (batch) => batch
  let most = 0
  for (const merged of survivorOf.keys()) most = Math.max(most, merged)
  const survivors = Int32Array.from({ length: most + 1 }, (_, person) => person)
  for (const merged of survivorOf.keys()) survivors[merged] = survivorIn(survivorOf, merged)
  return (batch) => {
    const { person } = batch
    for (let i = 0; i < person.length; i++) if (person[i]! <= most) person[i] = survivors[person[i]!]!
    return batch
  }
}
