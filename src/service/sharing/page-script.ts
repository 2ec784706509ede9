/**
 * Over a value of a picture it shows the row of the table of numbers that belongs to it, by pointer and by arrow keys. It asks for nothing and makes texts only;
 * without it, the table has the numbers. `root`: a document, or the inside of a custom element.
 */
export const tipsScript = `function tips(root) {
  for (const room of root.querySelectorAll('.room')) {
    const table = room.parentElement.querySelector('table')
    if (!table || !room.querySelector('[data-tip]')) continue
    const textsOf = (row) => [...row.cells].map((cell) => cell.textContent)
    const heads = textsOf(table.tHead.rows[0])
    const marks = () => [...room.querySelectorAll('[data-tip]')].filter((mark) => mark.getClientRects().length > 0)
    const tip = document.createElement('div')
    tip.className = 'tip'
    tip.hidden = true
    room.append(tip)
    room.tabIndex = 0
    const set = (name, value) => room.setAttribute(name, value)
    set('role', 'slider')
    set('aria-label', room.querySelector('svg').getAttribute('aria-label') + ' Arrow keys move from value to value.')
    set('aria-valuemin', 1)
    set('aria-valuemax', Math.max(1, marks().length))
    set('aria-valuenow', 1)
    set('aria-valuetext', 'No value chosen')
    let on = null
    const line = (name, text) => {
      const made = document.createElement(name)
      made.textContent = text
      tip.append(made)
    }
    const show = (mark) => {
      if (mark === on) return
      if (on) on.classList.remove('on')
      on = mark
      tip.hidden = !mark
      if (!mark) return set('aria-valuetext', 'No value chosen')
      mark.classList.add('on')
      const [row, column] = mark.dataset.tip.split(' ').map(Number)
      const cells = textsOf(table.tBodies[0].rows[row])
      tip.replaceChildren()
      line('strong', cells[0])
      if (column === undefined) cells.slice(1, 13).forEach((text, i) => line('div', heads[i + 1] + ': ' + text))
      else line('div', heads[column] + ': ' + cells[column])
      const all = marks()
      set('aria-valuemax', all.length)
      set('aria-valuenow', all.indexOf(mark) + 1)
      set('aria-valuetext', [...tip.children].map((child) => child.textContent).join(', '))
      const around = room.getBoundingClientRect()
      const box = mark.getBoundingClientRect()
      const x = Math.min(around.width, Math.max(0, (box.left + box.right) / 2 - around.left))
      const isRight = x > around.width / 2
      tip.style.left = isRight ? 'auto' : x + 12 + 'px'
      tip.style.right = isRight ? around.width - x + 12 + 'px' : 'auto'
      tip.style.maxWidth = Math.max(60, (isRight ? x : around.width - x) - 14) + 'px'
      tip.style.top = Math.max(0, box.top - around.top) + 'px'
    }
    const point = (event) => show(event.target.closest('[data-tip]'))
    room.addEventListener('pointermove', point)
    room.addEventListener('pointerdown', point)
    room.addEventListener('pointerleave', () => show(null))
    room.addEventListener('blur', () => show(null))
    room.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') return show(null)
      const all = marks()
      const at = all.indexOf(on)
      const to = {
        ArrowRight: at + 1,
        ArrowDown: at + 1,
        ArrowLeft: at < 0 ? all.length - 1 : at - 1,
        ArrowUp: at < 0 ? all.length - 1 : at - 1,
        Home: 0,
        End: all.length - 1,
      }[event.key]
      if (to === undefined || all.length === 0) return
      event.preventDefault()
      show(all[Math.max(0, Math.min(all.length - 1, to))])
    })
  }
}
`

/** The only script of a public page. */
export const pageScript = `'use strict'
${tipsScript}tips(document)
`
