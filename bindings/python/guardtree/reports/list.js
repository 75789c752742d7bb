// Elements made of text alone, and lists that draw only the lines in sight.

// All text of a report comes from user objects: it becomes text nodes, never markup.
function element(tag, names, text) {
  const made = document.createElement(tag);
  if (names) made.className = names;
  if (text !== undefined) made.textContent = text;
  return made;
}

class List {
  // `draw(index)` gives the element of a line; `chosen(index)` hears of selections.
  constructor(box, height, draw, chosen) {
    Object.assign(this, {box, height, draw, chosen, count: 0, at: -1});
    this.space = element("div", "space");
    box.append(this.space);
    this.waits = false;
    box.addEventListener("scroll", () => this.later());
    new ResizeObserver(() => {  // its place is known now, or has changed
      this.reveal();
      this.later();
    }).observe(box);
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("mousedown", (event) => {
      const line = event.target.closest(".line");
      if (line) this.choose(Number(line.dataset.index));
    });
  }

  show(count, at) {
    this.count = count;
    this.at = count ? Math.min(at, count - 1) : -1;
    this.space.style.height = `${count * this.height}px`;
    this.reveal();
    this.render();
  }

  later() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.render();
    });
  }

  render() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 8);
    const most = Math.ceil(this.box.clientHeight / this.height) + 16;
    const lines = [];
    for (let i = first; i < Math.min(this.count, first + most); i++) {
      const line = this.draw(i);
      line.classList.add("line");
      line.dataset.index = i;
      line.id = `${this.box.id}-${i}`;
      line.style.top = `${i * this.height}px`;
      line.style.height = `${this.height}px`;
      line.setAttribute("aria-selected", i === this.at);
      line.setAttribute("aria-setsize", this.count);
      line.setAttribute("aria-posinset", i + 1);
      if (!line.hasAttribute("role")) line.setAttribute("role", "option");
      lines.push(line);
    }
    this.space.replaceChildren(...lines);
    this.box.setAttribute(
      "aria-activedescendant", this.at < 0 ? "" : `${this.box.id}-${this.at}`);
  }

  reveal() {
    if (this.at < 0) return;
    const top = this.at * this.height;
    const {scrollTop, clientHeight} = this.box;
    if (top < scrollTop) this.box.scrollTop = top;
    else if (top + this.height > scrollTop + clientHeight) {
      this.box.scrollTop = top + this.height - clientHeight;
    }
  }

  choose(index) {
    if (!this.count) return;
    this.at = Math.max(0, Math.min(this.count - 1, index));
    this.reveal();
    this.render();
    if (this.chosen) this.chosen(this.at);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
    const moves = {
      ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page,
      PageUp: this.at - page, Home: 0, End: this.count - 1,
    };
    if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.choose(moves[event.key]);
  }
}
