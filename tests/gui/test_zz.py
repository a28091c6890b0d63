from gui.test_window import *
def test_z(window, tmp_path):
    path = tmp_path / "a"
    path.write_text("mine\n")
    editor = opened(window, path)
    window.tabs.failed.connect(lambda e: print("FAILED", e.kind, e.message))
    QTest.keyClicks(editor, "x")
    wait(lambda: editor.document.settled, "the edit")
    def look():
        box = QApplication.activeModalWidget()
        print("modal", box, box and box.text(), [b.text() for b in box.buttons()] if box else None)
        if box:
            [b for b in box.buttons() if "Don" in b.text()][0].click()
        else: QTimer.singleShot(20, look)
    QTimer.singleShot(50, look)
    key(editor, "Ctrl+F4")
    for i in range(200): QApplication.processEvents(); __import__("time").sleep(.005)
    print(window.tabs.count(), editor.document._outbox, core_call(window))
def core_call(w): return w._link._calls
