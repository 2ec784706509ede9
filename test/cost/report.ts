import type { Figures, Finding } from './probe.ts'

export const row = ({ size, bytes, cpuMs, wallMs, holdMs, othersMs, residentMb, diskBytes, status, end }: Figures) =>
  `    size ${size} (${bytes} bytes): ${cpuMs} ms of processor time in ${wallMs} ms, loop held ${holdMs} ms,${othersMs > 0 ? ` others waited ${othersMs} ms,` : ''} ${residentMb} MB, ${diskBytes} bytes on disk, status ${status}${end ? `, ${end}` : ''}`

/** A finding as it is printed: what is wrong, the figures, the input, and how to see it again. */
export const described = ({ probe, what, figures, sample }: Finding): string =>
  [`${probe}`, `  ${what}`, ...figures.map(row), `  ${sample}`, `  again: npm run test:cost -- --only ${JSON.stringify(probe)}`].join('\n')
