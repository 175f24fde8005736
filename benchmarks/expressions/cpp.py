"""Evaluates expressions with the C++ runtime, through its Python package cel-expr-python (see engine.go for the commands)."""

import json
import sys

from cel_expr_python import cel
from cel_expr_python.ext import ext_optional, ext_strings


def show(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def main(directory):
    with open(directory + "/cases.json") as file:
        data = json.load(file)
    cases = []
    extensions = [ext_optional.ExtOptional(), ext_strings.ExtStrings()]
    for case in data["cases"]:
        try:
            env = cel.NewEnv(variables={name: cel.Type.DYN for name in case["names"]}, extensions=extensions)
            values = {name: data["values"][root] for name, root in zip(case["names"], case["roots"])}
            cases.append((env.compile(case["expression"]), env.Activation(values)))
        except Exception as error:
            cases.append(" ".join(str(error).split()))
    for line in sys.stdin:
        words = line.split()
        case = cases[int(words[2])]
        if words[0] == "run":
            program, activation = case
            evaluate = program.eval
            for _ in range(int(words[3])):
                evaluate(activation)
            answer = "done"
        elif isinstance(case, str):
            answer = "-\t" + case
        else:
            try:
                result = case[0].eval(case[1])
                if result.type() == cel.Type.ERROR:
                    answer = "0\terror\t" + " ".join(str(result.value()).split())
                else:
                    answer = "0\t" + show(result.plain_value())
            except Exception as error:
                answer = "0\terror\t" + " ".join(str(error).split())
        print(answer, flush=True)


main(sys.argv[1])
