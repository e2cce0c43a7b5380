"""Many spellings of one answer share one verdict: the kinds of rows of the table of hard answers, with other values."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from grader.judging import judge

TESTS = Path(__file__).parents[1]


def _script() -> ModuleType:
    found = importlib.util.spec_from_file_location("answer_cases", TESTS / "answer_cases.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["answer_cases"] = module
    found.loader.exec_module(module)
    return module


cases = _script()
pytestmark = pytest.mark.law

VARIANTS = [
    ("number", "27 | int", "accept", [
        "27", "27/1", "54/2", "+ 27", "\uff12\uff17", "27.", "27.00", "2.7e1", "0027", "27 ", "\xa027",
        "3^3", "\\(27\\)", "$27$", "{27}", "27\u200d", "(27)", "((27))", "\u224827", "~27", "about 27",
        "270/10", "27e0", "2.7*10", "2.7 x 10", "27!/26!", "\u200e27",
    ]),
    ("number", "27 | int", "reject", [
        "26", "28", "-27", "27.5", "0.27", "27%", "27 GB", "27 Hz", "none", "impossible", "2.7", "2700",
        "$27", "27 rad",
    ]),
    ("number", "27 | int", "invalid", [
        "", " ", "?", "twenty seven", "27 or 28", "27,28", "27;28", "[27]", "27\xb11", "27 +- 1", "27...28",
        "27\u201328", "27 to 28", "n=27", "x=27", "27=27", ">27", "\u226527", "<28", "27?", "inf", "\u221e",
        "NaN", "n/a", "0b11011", "0o33", "XXVII", "27x", "27..", "27.0.0", "\uff12\uff17\u0660",
        "\u2461\u2466", "#27", "27,", "27;", "27*", "*27", "27/", "2 7", "2*", "()", "27)", "(27", "27 27",
        "27\n28", '"27"', "1/0", "0/0", "27e", "27e1.0", "twenty-seven", "27 sequences", "27 please", "27+0",
        "26+1", "27-0", "2(7)", "-", "+", ".", ",", "e", "lambda: 27", '__import__("os")', "27;DROP TABLE",
        "27 K", "27k", "\ud800", "27\x00", "27\u202e", "5!!", "2^^3", "2**", "1e9999999", "9^9^9", "(10^9)!",
        "1" * 201, "2 x 7",
    ]),
    ("number", "-5", "accept", [
        "-5", "\u22125", "\u20135", "\u20145", "\u20105", "\u20115", "\ufe635", "\uff0d5", "- 5", "-(5)",
        "(-5)", "-10/2", "\u22125.0",
    ]),
    ("number", "-5", "reject", [
        "5", "+5", "50",
    ]),
    ("number", "-5", "invalid", [
        "--5", "+-5", "-\u22125", "5-", "\xad5",
    ]),
    ("number", "1200 | rel=0.001", "accept", [
        "1200", "1.2e3", "1.2E+3", "1.2 e 3", "1.2e 3", "1.2 \xd7 10^3", "1.2\xd710\xb3", "1.2\xb710\xb3",
        "1.2\u22c510^3", "1.2\u221910^{3}", "$1.2\\cdot10^3$", "1.2*10**3", "12E2", "1.2X10^3", "1.2x10\xb3",
        "1 200", "1,200", "1\u2019200", "1\u2009200", "1\u2007200", "1_200", "1.2 \\times 10^{3}",
        "12 * 100", "12\xd710\xb2", "1.2x1000", "120*10^1", "0.12e4", "1.2*10^+3", "10^3*1.2",
        "\\frac{2400}{2}", "\\dfrac{3600}{3}", "2400/2", "6!*5/3",
    ]),
    ("number", "1200 | rel=0.001", "invalid", [
        "1.2 10^3", "1.2e", "1.2e+", "1.2 x", "1,2e3", "1,20,0", "12,00", "1.2e3e1", "1.200,0",
        "1.2x10^3.5e", "1.2x10e3",
    ]),
    ("number", "0.5", "accept", [
        "0.5", ".5", "1/2", "\xbd", "1\u20442", "2/4", "0.50", "5e-1", "50e-2", "00.5", "1\xf72", "1\u22152",
        "-1/-2", "5*10^-1", "5\xd710\u207b\xb9", "\\frac{1}{2}", "2^-1",
    ]),
    ("number", "0.5", "reject", [
        "5", "0.05", "-0.5", "50%", "2", "500",
    ]),
    ("number", "0.5", "invalid", [
        "0,5", ",5", "1\xbd", "1 \xbd", "1 1/2", "half", "0.5.", "0..5", ".", "1/", "/2", "0.5 or 1/2",
    ]),
    ("number", "0.5 | percent-ok", "accept", [
        "50%", "50 %", "50 percent", "50 pct", "50 per cent", "0.5", "50.0%", "50 \uff05", "1/2", "50 \\%",
    ]),
    ("number", "0.5 | percent-ok", "reject", [
        "0.5%", "5%", "50", "500%",
    ]),
    ("number", "50 | unit=%", "accept", [
        "50", "50%", "50 percent", "50.0",
    ]),
    ("number", "50 | unit=%", "reject", [
        "0.5", "0.5%", "5000%",
    ]),
    ("number", "16500 | locale=fr", "accept", [
        "16.500", "16 500", "16500", "16.500,00", "16500,0", "1,65e4", "16\u202f500,0", "16'500",
        "1,65\xb710^4",
    ]),
    ("number", "16.5 | locale=fr", "accept", [
        "16,5", "16,50", "33/2", "1,65e1",
    ]),
    ("number", "16.5 | locale=fr", "invalid", [
        "16.5", "16.50",
    ]),
    ("number", "16500 | locale=fr", "reject", [
        "16,500",
    ]),
    ("number", "16500 | locale=fr", "invalid", [
        "16,500.00", "1.65.00",
    ]),
    ("number", "108000", "accept", [
        "108,000.00", "108 000.0", "1.08e5", "108\xb710\xb3",
    ]),
    ("number", "108000", "invalid", [
        "108,00", "10,8000", "108,0000", "108.000.000,0", "1080,00", "108, 000", "108 ,000", "108  000",
        "108,000,", "1 08 000", "1,080,00", "108\xb7000",
    ]),
    ("number", "1.234 | sf=3", "accept", [
        "1.23", "1.230", "1.234", "1.2345", "1.225", "123/100",
    ]),
    ("number", "1.234 | sf=3", "reject", [
        "1.24", "1.2", "1.22",
    ]),
    ("number", "999 | sf=2 strict", "accept", [
        "1.0E3", "1.0e3", "1.0*10^3",
    ]),
    ("number", "1.5 | sf=3 strict", "accept", [
        "1.50", "1.50e0", "15.0e-1", "01.50",
    ]),
    ("number", "1.5 | sf=3 strict", "reject", [
        "1.5", "1.500", "3/2",
    ]),
    ("number", "1200 | sf=2 strict", "accept", [
        "1200", "1.2e3", "1.2*10^3",
    ]),
    ("number", "1200 | sf=2 strict", "reject", [
        "1200.", "1.20e3", "1200.0",
    ]),
    ("number", "1.27 | dp=1 strict", "accept", [
        "1.3",
    ]),
    ("number", "1.27 | dp=1 strict", "reject", [
        "1.30", "1.27", "1.2",
    ]),
    ("number", "2.5 | dp=0", "accept", [
        "3", "2.5", "2",
    ]),
    ("number", "0 | abs=0.01", "accept", [
        "0", "0.01", "-0.01", "0.000",
    ]),
    ("number", "0 | abs=0.01", "reject", [
        "0.011",
    ]),
    ("quantity", "54 GB | rel=0.01 units=any", "accept", [
        "54 GB", "54.0GB", "54 Gigabyte", "54 gigabytes", "54 Gbyte", "54e9 bytes", "54e9 B", "54000 MB",
        "54,000,000 kB", "0.054TB", "0.000054 PB", "50.29 GiB", "51498 MiB", "432 Gbit", "432 Gb",
        "432 gigabits", "4.32e11 bits", "54\u2009GB", "54\\,\\text{GB}", "$54\\ \\mathrm{GB}$",
        "54 \xb7 10^9 B", "54\xd710\u2079 B", "54*GB", "54 GB^1", "108/2 GB", "\uff15\uff14\uff27\uff22",
        "54 \u3387", "402.3 Gibit", "54 GB.", "\u2248 54 GB", "0.0491 TiB", "+54 GB",
    ]),
    ("quantity", "54 GB | rel=0.01 units=any", "reject", [
        "54 GiB", "54 MB", "54 TB", "54 Gbit", "54 Gb", "54 GB/s", "54 tokens", "54 s", "54 kg",
        "54 furlongs", "54 Hz", "54 V", "54 m", "54 J", "54 %", "54 GPU", "-54 GB", "0 GB", "54 B", "5.4 GB",
        "54 GB^2", "54 GB/token", "54 $", "none", "54 km", "54 GiB/s", "54 GFLOP", "54 GHz",
    ]),
    ("quantity", "54 GB | rel=0.01 units=any", "invalid", [
        "54", "GB", "54 G", "54 gb", "54 gB", "54 Go", "54 GIB", "54 gib", "54 GBs", "54 bananas",
        "54 GB or 55 GB", "54-55 GB", "54 GB + 0 GB", "54 GB - 1", "54 + 0 GB", "GB54", "x GB", "54 GB GB2",
        "54 giga", "54 GB ?", "54 GB!", "~", "54 K B", "54,0 GB", "1 1/2 GB", "54 GB = 54e9 B", "M = 54 GB",
        "54 GB, 55 GB", "54 GB/", "54 GB^", "54 GB^x", "54 / GB /", "54 (GB", "54 GB)", "54 GB^99999",
        "9**9**9 GB", "nan GB", "inf GB", "54 GB; rm", "54 GB 3", "54 KB", "54 million",
    ]),
    ("quantity", "5 GB", "accept", [
        "5 GB",
    ]),
    ("quantity", "5 GB", "reject", [
        "0 GB*GB/GB", "0 s*GPU/token", "0 GB",
    ]),
    ("quantity", "524288 B | rel=0.01 conv=binary", "accept", [
        "512 KB", "512 KiB", "512KB",
    ]),
    ("quantity", "524288 B | rel=0.01 conv=binary", "reject", [
        "512 kB",
    ]),
    ("quantity", "524288 B | rel=0.01 conv=si", "reject", [
        "512 KB", "512 kbit", "512 kb",
    ]),
    ("quantity", "524288 B | rel=0.01 conv=si", "invalid", [
        "512 Kb", "512 k", "512 KIB", "512 kiB",
    ]),
    ("quantity", "524288 B | rel=0.01", "invalid", [
        "512 KB",
    ]),
    ("quantity", "512 KiB/token | rel=0.01", "accept", [
        "512 KiB/token", "512 KiB per token", "0.5 MiB/tok", "524288 B/token", "512 KiB token^-1",
        "4194304 bit/token", "512 KiB\xb7token\u207b\xb9",
    ]),
    ("quantity", "512 KiB/token | rel=0.01", "reject", [
        "512 KiB", "512 kB/token", "512 token/KiB", "512 KiB*token", "512 KiB/s",
    ]),
    ("quantity", "0.5 s | rel=0.01", "accept", [
        "500 ms", "0.5 s", "0.5 sec", "0.5 seconds", "500000 us", "500000 \u03bcs", "5e8 ns",
        "0.00833333 min", "500 msec", "500 milliseconds", ".5s", "1/7200 h", "0.5 Seconds",
    ]),
    ("quantity", "0.5 s | rel=0.01", "reject", [
        "0.5 ms", "500 s", "500 Ms", "0.5 min", "0.5 GB", "2 Hz", "0.5 h",
    ]),
    ("quantity", "0.5 s | rel=0.01", "invalid", [
        "0.5", "0.5 S", "500 m", "500 M", "500 mS", "0.5 Sek", "0:30", "0.5 weeks",
    ]),
    ("quantity", "50 tokens/s | rel=0.01", "accept", [
        "50 tok/s", "50 tokens/s", "50 token/s", "50 tps", "50 TPS", "50 tokens per second", "50 tokens/sec",
        "50 tokens / s", "3000 tokens/min", "0.05 tokens/ms", "50 tokens\xb7s\u207b\xb9", "50 tokens s^-1",
        "50 s^-1 tokens", "0.05 ktokens/s", "50 tokens s^{-1}", "180000 tokens/h", "50 Tokens/Second",
        "50 tok per sec",
    ]),
    ("quantity", "50 tokens/s | rel=0.01", "reject", [
        "50 requests/s", "20 ms/token", "0.02 s/token", "50 tokens", "50 s", "50 /s", "50 Hz", "50 tokens*s",
        "50 tokens/min", "50 tokens/s/GPU", "50 seq/s",
    ]),
    ("quantity", "50 tokens/s | rel=0.01", "invalid", [
        "50", "50 t/s", "50 tokens/", "50 tokens s-1", "50 tokens/2s", "tokens/s", "50 tokens//s",
        "50 tokens/s^", "r=50 tokens/s", "50 words/s", "50 tokens/S", "50 / tokens s-",
    ]),
    ("quantity", "1.6666667 requests/s | rel=0.01", "accept", [
        "100 requests/min", "100 req/min", "100 rpm", "100 requests per minute", "1.667 req/s",
        "6000 requests/h", "1.6667 qps", "5/3 requests/s", "100 queries/min", "144000 requests/day",
    ]),
    ("quantity", "312 TFLOP/s | rel=0.01", "accept", [
        "312 TFLOPS", "312 TFLOP/s", "312e12 FLOP/s", "0.312 PFLOPS", "312000 GFLOP/s", "312 TFLOPs/s",
        "312 teraflop/s", "3.12*10^14 FLOPS",
    ]),
    ("quantity", "312 TFLOP/s | rel=0.01", "reject", [
        "312 TFLOP", "312 GFLOPS", "312 TFLOPS/s", "312 TB/s",
    ]),
    ("quantity", "4 $/h | rel=0.01", "accept", [
        "$4/h", "4 $/hr", "4 USD/h", "4 dollars/hour", "$4 per hour", "$96/day", "400 cents/hour", "US$4/h",
        "$ 4 / h", "4 $\xb7h\u207b\xb9", "$4.00/hour",
    ]),
    ("quantity", "4 $/h | rel=0.01", "reject", [
        "4 $", "$4", "\u20ac4/h", "4 h/$", "$4/s", "$4/min",
    ]),
    ("quantity", "4 $/h | rel=0.01", "invalid", [
        "4", "$/h", "4 bucks/h",
    ]),
    ("quantity", "0.8 TB/(s*GPU) | rel=0.01", "accept", [
        "0.8 TB/s/GPU", "0.8 TB/(s GPU)", "0.8 TB/(GPU*s)", "0.8 TB s^-1 GPU^-1",
        "0.8 TB per second per GPU", "800 GB/s/GPU",
    ]),
    ("quantity", "0.8 TB/(s*GPU) | rel=0.01", "reject", [
        "0.8 TB/s*GPU", "0.8 TB/s",
    ]),
    ("quantity", "80 GB | abs=1GiB", "accept", [
        "81 GB", "79 GB", "80 GB", "81.07 GB",
    ]),
    ("quantity", "80 GB | abs=1GiB", "reject", [
        "81.08 GB",
    ]),
    ("quantity", "18 GB | sf=2 units=exact", "accept", [
        "18 GB", "18.2 GB",
    ]),
    ("quantity", "18 GB | sf=2 units=exact", "reject", [
        "18 GiB", "18000 MB", "1.8e10 B",
    ]),
    ("quantity", "none", "accept", [
        "none", "impossible", "infeasible", "does not fit", "doesn't fit", "no solution", "None.", "NEVER",
        "unstable", "not possible", "cannot", "no such value", "there is none", "it is impossible",
        "no batch size",
    ]),
    ("quantity", "none", "reject", [
        "54 GB", "0 GB",
    ]),
    ("quantity", "none", "invalid", [
        "n/a", "", "?", "inf", "idk",
    ]),
    ("symbolic", "12*L*H**2 + 2*V*H", "accept", [
        "12LH^2+2VH", "2*H*(6*L*H+V)", "12 L H\xb2 + 2 V H", "12\u22c5L\u22c5H\xb2+2\u22c5V\u22c5H",
        "P = 12LH^2+2VH", "12 L\xb7H^2 + 2VH", "2VH + 12LH^2", "12*L*H*H+2*V*H", "(12LH+2V)H",
        "12\\,L H^{2} + 2 V H", "$12LH^2+2VH$", "1.2e1*L*H^2+2*V*H", "24/2*L*H^2+V*H*2", "-(-12LH^2-2VH)",
        "12*L*(H)^(2)+2*V*H", "L*H^2*12+V*H/0.5",
    ]),
    ("symbolic", "12*L*H**2 + 2*V*H", "reject", [
        "12*L*H+2*V*H", "14*L*H^2", "12LH^2-2VH", "L", "12 L^2 H^2 + 2VH", "42", "1,000,000", "none",
        "12*(L*H)^2+2*V*H",
    ]),
    ("symbolic", "12*L*H**2 + 2*V*H", "invalid", [
        "", "12*l*h^2+2*v*h", "12*L*H2+2*V*H", "12*L*H^2+2*V*H)", "12*L*H^2+2*V*H=5", "12*L*H^^2", "12**",
        "eval(1)", "12*L*H^2 + 2*V*X", "12*L*H^2 + ? ", "[12*L*H^2]", "12*L*H^2 & 1", "import os", "L.H",
        '"L"', "L'", "12,L", "x" * 2001, "12*L*H^2 + 2*V*H\x00", "L if H else V", "lambda x: x",
        "12*L*H^2 + 2*V*H;", "= 12*L*H^2", "L = 12*L*H^2+2*V*H", "(", "12 34 L",
    ]),
    ("symbolic", "M/(2*L*H*b)", "accept", [
        "M/(2LHb)", "M/2/L/H/b", "M*(2LHb)^-1", "0.5*M/(L*H*b)", "(M/2)/(LHb)", "\\frac{M}{2LHb}",
        "M\xf7(2\xb7L\xb7H\xb7b)", "\xbdM/(LHb)", "M/(2 L H b)", "N = M/(2LHb)",
    ]),
    ("symbolic", "M/(2*L*H*b)", "reject", [
        "M/2LHb", "M/2*L*H*b", "2LHb/M",
    ]),
    ("symbolic", "floor(A/(k*T))", "accept", [
        "floor(A/(kT))", "\u230aA/(kT)\u230b", "\\lfloor \\frac{A}{kT} \\rfloor", "Floor(A/k/T)",
        "\\left\\lfloor A/(kT)\\right\\rfloor",
    ]),
    ("symbolic", "floor(A/(k*T))", "reject", [
        "A/(k*T)", "ceil(A/(k*T))", "ceil(A/(kT))-1", "floor(A/k)/T", "floor(A/(kT))+1",
    ]),
    ("symbolic", "floor(A/(k*T)) | positive integers", "accept", [
        "floor(floor(A/k)/T)",
    ]),
    ("symbolic", "ceiling(N/C)", "accept", [
        "ceil(N/C)", "\u2308N/C\u2309", "-floor(-N/C)", "ceiling(N/C)",
    ]),
    ("symbolic", "ceiling(N/C) | positive integers", "accept", [
        "floor((N+C-1)/C)", "floor((N-1)/C)+1",
    ]),
    ("symbolic", "ceiling(N/C)", "reject", [
        "N/C", "floor(N/C)", "floor(N/C)+1",
    ]),
    ("symbolic", "lambda*W", "accept", [
        "\u03bbW", "\u03bb*W", "W \u03bb", "\\lambda W", "lambda W", "\u03bb\xb7W", "W\u03bb",
    ]),
    ("symbolic", "lambda*W", "invalid", [
        "l*W", "\u039b*W",
    ]),
    ("symbolic", "max(m,n)", "accept", [
        "max(n,m)", "MAX(m, n)", "Max(n,m)", "(m+n+abs(m-n))/2", "-min(-m,-n)",
    ]),
    ("symbolic", "max(m,n)", "reject", [
        "m+n", "min(m,n)", "m",
    ]),
    ("symbolic", "log(10) + log(x)", "accept", [
        "ln(10x)", "log(10)+ln(x)", "log(x*10)",
    ]),
    ("symbolic", "log(10) + log(x)", "reject", [
        "log(10)*log(x)", "log(10+x)",
    ]),
    ("symbolic", "sqrt(a/b) | positive", "accept", [
        "(a/b)^(1/2)", "(a/b)^0.5", "\u221a(a/b)", "\\sqrt{\\frac{a}{b}}", "sqrt(a*b)/b", "a^0.5*b^-0.5",
        "\u221aa/\u221ab",
    ]),
    ("symbolic", "sqrt(a/b) | positive", "reject", [
        "sqrt(a)/b", "sqrt(b/a)",
    ]),
    ("symbolic", "2*e + 3", "accept", [
        "2e+3", "2*e+3", "3+e*2",
    ]),
    ("symbolic", "2000*H", "accept", [
        "2e3*H", "2000H", "2*10^3 H", "2E3H", "2x10^3*H",
    ]),
    ("symbolic", "E*I", "accept", [
        "EI", "I*E",
    ]),
    ("symbolic", "x**(y**z)", "accept", [
        "x^y^z", "x^(y^z)",
    ]),
    ("symbolic", "x**(y**z)", "reject", [
        "(x^y)^z",
    ]),
    ("symbolic", "n*factorial(n-1)", "accept", [
        "n!", "n*(n-1)!", "factorial(n)",
    ]),
    ("symbolic", "n*factorial(n-1)", "reject", [
        "(n-1)!", "n",
    ]),
    ("symbolic", "O(n*log(n))", "accept", [
        "O(n log(n))", "n*log(n)", "O(n*ln(n))",
    ]),
    ("symbolic", "O(n*log(n))", "reject", [
        "O(n)", "O(n^2)", "O(2n log(n))", "O(n*log2(n))",
    ]),
    ("symbolic", "O(n^2)", "accept", [
        "O(n*n)", "O( n^2 )",
    ]),
    ("symbolic", "O(n^2)", "reject", [
        "O(n^2+n)", "O(n^3)", "O(5)", "1",
    ]),
    ("symbolic", "x**2 + 2*x + 1", "accept", [
        "(1+x)**2", "x(x+2)+1",
    ]),
    ("symbolic", "3*j", "accept", [
        "3j", "j*3",
    ]),
    ("choice", "B | options=A..D", "accept", [
        "b", "[B]", '"B"', "Option B", "B)", "B:", "\uff22", "answer: B",
    ]),
    ("choice", "B | options=A..D", "reject", [
        "A", "c", "none",
    ]),
    ("choice", "B | options=A..D", "invalid", [
        "", "E", "AB", "A or B", "A, B", "B and C", "1", "?", "all", "not B",
    ]),
    ("choice", "memory-bound", "accept", [
        "memory_bound", "MEMORY BOUND", "memory\u2013bound",
    ]),
    ("choice", "memory-bound", "reject", [
        "compute bound", "latency-bound",
    ]),
    ("choice", "A,C | multi", "accept", [
        "A, C", "C,A", "AC", "a and c", "A;C", "{A,C}", "C & A", "A/C", "A C A",
    ]),
    ("choice", "A,C | multi", "reject", [
        "A", "A B", "ABCD", "none",
    ]),
    ("choice", "A,C | multi", "invalid", [
        "", "Z",
    ]),
]  # fmt: skip


IDS = [f"{kind} {expected} {should}" for kind, expected, should, _ in VARIANTS]


@pytest.mark.parametrize(("kind", "expected", "should", "spellings"), VARIANTS, ids=IDS)
def test_verdict(kind: str, expected: str, should: str, spellings: list[str]) -> None:
    part = cases.part_of(kind, expected)
    judged = {typed: judge(part, typed) for typed in spellings}
    assert {t: j for t, j in judged.items() if cases.OUTCOMES[j.verdict] != should} == {}


@pytest.mark.parametrize(("kind", "expected", "should", "spellings"), VARIANTS, ids=IDS)
def test_the_echo_reads_back_the_same(kind: str, expected: str, should: str, spellings: list[str]) -> None:
    part = cases.part_of(kind, expected)
    for typed in spellings:
        first = judge(part, typed)
        if first.reading:
            second = judge(part, first.reading)
            assert (second.value, second.reading) == (first.value, first.reading), (typed, should)
