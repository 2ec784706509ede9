// An upper estimate of the memory that RE2 takes for a pattern. RE2 runs in time linear in the text, but it unfolds repetitions and writes classes of Unicode
// letters out, and keeps the states that a text has led it to: up to 8 MiB for each pattern, outside of the engine's own accounts.

/** What RE2 takes at most, in KiB. */
export const mostOfPattern = 8_192
/** The steps of one element. A literal letter is up to four bytes, in both cases. */
const steps = { letter: 8, class: 20, unicodeClass: 800 } as const
const bytesOfStep = 16
/** States multiply with each element that more than one letter fits. */
const mostOpen = 20

/** A pattern that each row brings is compiled for each of them, and 2,048 rows cannot be interrupted: it may have only this many steps. */
export const mostStepsOfRow = 20_000

interface Part {
  steps: number
  /** Elements that more than one letter fits, or that may be left out. */
  open: number
}

/** Steps that a pattern unfolds to, and how many of its elements are open. */
export function unfolded(pattern: string): { readonly steps: number; readonly open: number } {
  const outer: { part: Part; alternatives: number }[] = []
  let part: Part = { steps: 0, open: 0 }
  let alternatives = 0
  let last: Part = { steps: 0, open: 0 }
  let isAny = false
  const add = (one: Part) => {
    part.steps += one.steps
    part.open += one.open
    last = one
  }
  const element = /\\[pP](?:\{[^}]{0,64}\}|.)?|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]?|\((?:\?(?:P?<\w*>|[a-zA-Z-]*:?))?|[\s\S]/gsu
  const counts = /[*+?]|\{(\d{1,6})(?:(,)(\d{1,6})?)?\}/y
  for (let at = 0; at < pattern.length; ) {
    counts.lastIndex = at
    const repeated = counts.exec(pattern)
    if (repeated) {
      const [text, least, comma, most] = repeated
      // `a{2,}` is `aa+`.
      const times = least === undefined ? 1 : Math.max(1, most === undefined ? Number(least) : Number(most))
      // Where any text may follow, it may do so from then on: one state, not one more for each that there was.
      const isRest = isAny && (text[0] === '*' || text[0] === '+')
      const isOpen = !isRest && (least === undefined || comma !== undefined)
      if (isRest) part.open -= last.open
      isAny = false
      part.steps += (times - 1) * last.steps + 2
      part.open += (times - 1) * last.open + (isOpen ? times : 0)
      last = { steps: times * last.steps + 2, open: isRest ? 0 : times * last.open + (isOpen ? times : 0) }
      at += text.length
      continue
    }
    element.lastIndex = at
    const text = element.exec(pattern)![0]
    at += text.length
    isAny = text === '.'
    if (text[0] === '(' && text !== '(') {
      if (!text.endsWith(':') && !text.endsWith('>')) continue // (?i): flags only, the bracket behind it is a letter at worst
    }
    if (text[0] === '(') {
      outer.push({ part, alternatives })
      part = { steps: 2, open: 0 }
      alternatives = 0
      last = { steps: 0, open: 0 }
    } else if (text === ')') {
      const before = outer.pop()
      if (!before) continue
      const group = { steps: part.steps + 2, open: part.open + (alternatives > 0 ? 1 : 0) }
      ;({ part, alternatives } = before)
      add(group)
    } else if (text === '|') {
      alternatives++
      part.steps += 2
      last = { steps: 0, open: 0 }
    } else if (/^\\[pP]/.test(text)) add({ steps: steps.unicodeClass, open: 1 })
    else if (text[0] === '[' && text.length > 1) {
      const unicode = text.match(/\\[pP]/g)?.length ?? 0
      add({ steps: steps.class + text.length * 4 + unicode * steps.unicodeClass, open: 1 })
    } else if (text === '.' || /^\\[dDwWsSC]$/.test(text)) add({ steps: steps.class, open: 1 })
    else add({ steps: steps.letter, open: 0 })
  }
  let all = part
  for (const { part: before } of outer) all = { steps: all.steps + before.steps, open: all.open + before.open }
  return all
}

/** In KiB, for one compiled pattern and the states that it may meet. */
export function patternMemory(pattern: string): number {
  const { steps: found, open } = unfolded(pattern)
  const states = (found / steps.letter + 1) * 2 ** Math.min(open, mostOpen)
  // A state names the steps that are possible in it, and where each letter leads to.
  const bytes = found * bytesOfStep + states * (Math.min(found, 64) * 4 + 256)
  return Math.min(mostOfPattern, Math.ceil(bytes / 1024))
}

/** Of a LIKE pattern that an engine cannot match by itself. */
export const likeMemory = (pattern: string): number =>
  pattern.split('%').length > 2 ? patternMemory(pattern.replace(/[^%_]/g, 'a').replaceAll('%', '.*').replaceAll('_', '.')) : 1

/** Of a text that is in a pattern, every letter for itself. */
export const textMemory = (text: string): number =>
  Math.min(mostOfPattern, Math.ceil((text.length * (steps.letter * bytesOfStep + 512)) / 1024))
