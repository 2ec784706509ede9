import { files, importsOf } from '../test/harness/imports.ts'
import { floors, layerOf } from '../test/layers.ts'

// The floors of `src/` as a drawing: one band for each, the highest on top, with its rooms and the floors that it imports.

const [width, margin, gap] = [1200, 16, 6]
const names = { x: margin + 16, rooms: 250, uses: width - 330 } as const

const floorOf = new Map(floors.flatMap(({ name, rooms }) => Object.keys(rooms).map((room) => [room, name])))
const floorOfFile = (file: string): string | undefined =>
  floorOf.get(layerOf(file)) ?? floors.find(({ name }) => file.startsWith(`${name}/`))?.name

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** The floors that each floor imports from. */
function imported(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const file of files) {
    const from = floorOfFile(file)
    for (const { target } of importsOf(file)) {
      const to = floorOfFile(target)
      if (from && to && from !== to) found.set(from, (found.get(from) ?? new Set()).add(to))
    }
  }
  return found
}

/** `a, b, c` in lines of at most so many characters. */
function inLines(words: readonly string[], longest: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length + 2 <= longest) lines[lines.length - 1] = `${last}, ${word}`
    else lines.push(word)
  }
  return lines
}

/** Folders of a floor that has no rooms in the layer table: `trends`, `funnels`. */
const foldersOf = (floor: string) => [
  ...new Set(files.filter((file) => file.startsWith(`${floor}/`) && file.split('/').length > 2).map((file) => file.split('/')[1]!)),
]

export function floorsPicture(): string {
  const uses = imported()
  const order = floors.map(({ name }) => name).toReversed()
  let y = margin
  const bands = order.map((name) => {
    const { summary, rooms } = floors.find((floor) => floor.name === name)!
    const isDivided = Object.keys(rooms).length > 1
    const own = isDivided ? Object.keys(rooms).map((room) => room.replace(`${name}/`, '')) : foldersOf(name)
    const roomLines = inLines(own.toSorted(), 62)
    const used = order.filter((floor) => uses.get(name)?.has(floor))
    const ports = used.filter((floor) => order.indexOf(floor) < order.indexOf(name))
    const below = used.filter((floor) => !ports.includes(floor))
    const useLines = [
      ...inLines(below, 44).map((line, at) => (at === 0 ? `↓ ${line}` : `\u2003${line}`)),
      ...(ports.length > 0 ? [`↑ ports of ${ports.join(', ')}`] : []),
    ]
    const height = 20 + 19 * Math.max(roomLines.length + 1, useLines.length)
    const text = (x: number, line: number, content: string, style = '') =>
      `<text x="${x}" y="${y + 26 + line * 19}"${style && ` class="${style}"`}>${escaped(content)}</text>`
    const band = [
      `<rect x="${margin}" y="${y}" width="${width - 2 * margin}" height="${height}" rx="8"/>`,
      text(names.x, 0, name, 'floor'),
      text(names.rooms, 0, summary),
      ...roomLines.map((line, at) => text(names.rooms, at + 1, line, 'rooms')),
      ...useLines.map((line, at) => text(names.uses, at, line, 'faint')),
    ]
    y += height + gap
    return band.join('\n')
  })
  const height = y - gap + margin
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The floors of src/, the highest on top: each imports only those below">
<style>text{font:15px system-ui,sans-serif;fill:#1f2937}.floor{font-weight:600;font-size:18px}.rooms{font-family:ui-monospace,monospace;font-size:13px}.faint{fill:#6b7280;font-size:13px}rect{fill:#f8fafc;stroke:#cbd5e1}</style>
<rect x="0" y="0" width="${width}" height="${height}" style="fill:#fff;stroke:none"/>
${bands.join('\n')}
</svg>
`
}
