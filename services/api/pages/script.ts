/**
 * What pages do beyond forms and links: they work without. It remembers country, operator and number in this
 * browser alone, checks the number and tells the amount as they are typed, sends once, and looks whether a
 * payment has ended.
 */
export const script = `'use strict'
const kept = 'ikw-payer'
const form = document.querySelector('form.pay')
if (form) pay(form)
const waiting = document.querySelector('[data-status]')
if (waiting) watch(waiting)
const forward = document.querySelector('[data-forward]')
if (forward) goOn(forward)

function goOn(forward) {
  const going = document.querySelector('.going')
  if (going) going.hidden = false
  setTimeout(() => location.replace(forward.href), Number(forward.dataset.forward))
}

function pay(form) {
  if (form.elements.Amount) tellAmount(form.elements.Amount)
  const number = form.elements.PhoneNumber
  const remember = form.querySelector('.remember input')
  if (remember) remember.closest('.remember').hidden = false
  if (number) {
    recall(form, number)
    number.addEventListener('input', () => check(number, false))
    number.addEventListener('blur', () => check(number, number.value !== ''))
  }
  form.addEventListener('submit', (event) => {
    const byPhone = event.submitter?.value !== 'card'
    if (form.dataset.sent || (byPhone && number && !check(number, true))) return event.preventDefault()
    form.dataset.sent = 'yes'
    if (number && byPhone) keep(form, number, !remember || remember.checked)
    if (event.submitter) {
      event.submitter.setAttribute('aria-disabled', 'true')
      event.submitter.textContent = form.dataset.sending
    }
  })
  // Whoever comes back by the browser's button may send again.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
}

function recall(form, number) {
  let all = {}
  try { all = JSON.parse(localStorage.getItem(kept) ?? '{}') } catch {}
  const known = all[form.dataset.country]
  // A country that was chosen, and a reason why nothing was paid, stay.
  const isFresh = !location.search.includes('country=') && !document.querySelector('[role=alert]')
  const abroad = !known && isFresh && document.querySelector('[data-in="' + all.last + '"]')
  if (abroad) location.replace(abroad.href)
  if (!known) return
  if (!number.value) number.value = known.number
  const tile = form.querySelector('input[name=Operator][value="' + CSS.escape(known.operator) + '"]')
  if (tile && !form.querySelector('input[name=Operator][checked]')) tile.checked = true
}

function keep(form, number, wanted) {
  const chosen = form.querySelector('input[name=Operator]:checked')
  try {
    const all = JSON.parse(localStorage.getItem(kept) ?? '{}')
    delete all.last
    delete all[form.dataset.country]
    if (wanted && chosen) {
      all.last = form.dataset.country
      all[all.last] = { operator: chosen.value, number: number.value }
    }
    localStorage.setItem(kept, JSON.stringify(all))
  } catch {}
}

function check(number, isDone) {
  const { code, pattern } = number.dataset
  let digits = number.value.replace(/[^0-9+]/g, '').replace(/^00/, '+')
  if (!digits.startsWith('+')) digits = new RegExp(pattern).test('+' + digits) ? '+' + digits : code + digits
  const isRight = new RegExp(pattern).test(digits)
  const isWrong = isDone && !isRight
  const field = number.closest('.field')
  field.classList.toggle('is-wrong', isWrong)
  number.setAttribute('aria-invalid', String(isWrong))
  field.querySelector('.fault').textContent = isWrong ? number.dataset.wrong : ''
  if (isWrong && document.activeElement?.tagName === 'BUTTON') number.focus()
  return isRight
}

function tellAmount(field) {
  const buttons = [...field.form.querySelectorAll('[data-amount]')]
  const unsaid = buttons.map((button) => button.textContent.trim())
  const tell = () => {
    const amount = amountIn(field)
    buttons.forEach((button, at) => {
      if (amount === undefined) button.textContent = unsaid[at]
      else say(button, button.dataset.amount.replace('{}', amount))
    })
  }
  field.addEventListener('input', tell)
  tell()
}

function say(button, text) {
  const [sum] = /[\\p{Sc}\\p{L}]{0,4}\\d[\\d.,\\u202f]*(?:\\u00a0[\\p{Sc}\\p{L}]+)*/u.exec(text)
  const [before, after] = text.split(sum)
  const whole = Object.assign(document.createElement('span'), { className: 'amount' })
  for (const part of sum.replace(/\\d(?:[\\u202f\\u00a0]|,(?=\\d{3}))/g, '$&\\n').split('\\n'))
    whole.append(part, document.createElement('wbr'))
  button.replaceChildren(before, whole, after)
}

function amountIn({ value, dataset }) {
  const digits = Number(dataset.digits)
  const plain = value.replace(/[\\s']/g, '')
  const typed = /^\\d{1,3}(?:[.,]\\d{3})+$/.test(plain) ? plain.replace(/[.,]/g, '') : plain
  const [, whole, fraction = ''] = /^(\\d{1,15})(?:[.,](\\d+))?$/.exec(typed) ?? []
  if (whole === undefined || fraction.length > digits) return undefined
  const fractions = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return new Intl.NumberFormat(document.documentElement.lang, fractions).format(whole + '.' + fraction)
}

async function watch({ dataset }) {
  for (let failures = 0, delay = 1500; ; ) {
    await new Promise((go) => setTimeout(go, delay))
    if (document.hidden) await new Promise((go) => document.addEventListener('visibilitychange', go, { once: true }))
    try {
      const answer = await fetch(dataset.status, { headers: { accept: 'application/json' } })
      if (!answer.ok) throw new Error(String(answer.status))
      const now = await answer.json()
      if (now[dataset.field] !== dataset.shown) return location.replace(dataset.page)
      failures = 0
      delay = now.poll_after_ms || 3000
    } catch {
      failures += 1
      delay = Math.min(30000, 1500 * 2 ** failures)
    }
  }
}
`
